-- Unique keys whose holders are final or gone.
SELECT held.tenant, held.`key`
FROM procession_unique_key AS held
LEFT JOIN procession_job AS job ON job.`key` = held.job
WHERE held.`until` IS NULL AND (job.`key` IS NULL OR job.state = 5)
ORDER BY held.tenant, held.`key`
LIMIT :a
