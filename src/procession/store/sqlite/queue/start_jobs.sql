-- Limited jobs that may start are leased.
UPDATE procession_job
SET state = 1, owner = ?2, lease = lease + 1, attempt = attempt + 1
WHERE key IN (SELECT value FROM json_each(?1))
