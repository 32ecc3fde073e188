SELECT key FROM procession_resource WHERE tenant = :tenant AND name = :name AND checksum = :checksum
