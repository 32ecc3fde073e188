-- Limits that nobody has used for long; the next job that names one brings its rule again.
DELETE FROM procession_limit
WHERE GREATEST(reserved_us, started_us, moved_us) < :b
    AND NOT EXISTS (SELECT 1 FROM procession_slot AS slot WHERE slot.limit_key = procession_limit.`key`)
    AND NOT EXISTS (SELECT 1 FROM procession_job AS job WHERE job.line = CONCAT('limit ', procession_limit.`key`))
ORDER BY `key`
LIMIT :a
