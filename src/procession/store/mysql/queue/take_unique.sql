-- Unique keys get other holders.
UPDATE procession_unique_key SET job = :job, `until` = :until WHERE tenant = :tenant AND `key` = :key
