-- Slots of jobs that do not run.
SELECT slot.limit_key, slot.job
FROM procession_slot AS slot
LEFT JOIN procession_job AS job ON job.`key` = slot.job
WHERE job.state IS NULL OR job.state <> 1
ORDER BY slot.limit_key, slot.job
LIMIT :a
