-- Which of these jobs are held, and under which lease. Locked: nobody ends or rescues them before we do.
SELECT `key`, lease
FROM procession_job
WHERE `key` IN (:keys) AND (state = 1 OR (state = 2 AND owner = -1))
ORDER BY `key`
FOR UPDATE
