UPDATE procession_job
SET state = 0, owner = 0, attempt = attempt - 1
WHERE `key` IN (:keys) AND state = 1 AND owner = :node AND traits IS NULL
