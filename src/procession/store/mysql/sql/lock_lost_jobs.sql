-- What others hold right now is ending or being rescued: skipped.
SELECT `key`, queue, crashes + 1
FROM procession_job
WHERE `key` IN (:keys) AND state = 1 AND traits IS NULL AND owner NOT IN (:living)
ORDER BY `key`
FOR UPDATE SKIP LOCKED
