SELECT `key` FROM procession_resource WHERE checksum = :checksum AND name = :name AND tenant = :tenant
