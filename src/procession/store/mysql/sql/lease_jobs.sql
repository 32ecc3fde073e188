UPDATE procession_job
SET state = 1, owner = :node, lease = lease + 1, attempt = attempt + 1
WHERE `key` IN (:keys)
