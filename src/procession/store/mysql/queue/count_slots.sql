-- How many slots of limits that are held are taken, and whether jobs wait for one.
SELECT
    held.`key`,
    (SELECT COUNT(*) FROM procession_slot AS slot WHERE slot.limit_key = held.`key`),
    EXISTS (SELECT 1 FROM procession_job AS job WHERE job.line = CONCAT('limit ', held.`key`))
FROM procession_limit AS held
WHERE held.`key` IN (:a)
