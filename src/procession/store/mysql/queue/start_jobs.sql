-- Limited jobs that may start are leased.
UPDATE procession_job
SET state = 1, owner = :b, lease = lease + 1, attempt = attempt + 1
WHERE `key` IN (:a)
