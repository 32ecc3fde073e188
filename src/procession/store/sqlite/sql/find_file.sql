SELECT key FROM resource WHERE tenant = :tenant AND name = :name AND checksum = :checksum
