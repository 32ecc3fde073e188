-- 3: jobs.JobKind.TIMER
SELECT job.`key`
FROM procession_definition AS definition
JOIN procession_job AS job ON job.instance = 0 AND job.definition = definition.`key` AND job.kind = 3
WHERE definition.process_id = :process_id AND definition.tenant = :tenant
ORDER BY job.`key`
