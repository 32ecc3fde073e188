-- Which of these jobs without traits are held, and under which lease (others are ended by settle in _shared/queue). Locked: nobody ends or rescues them before we do.
SELECT `key`, lease
FROM procession_job
WHERE `key` IN (:keys) AND (state = 1 OR (state = 2 AND owner = -1)) AND traits IS NULL
ORDER BY `key`
FOR UPDATE
