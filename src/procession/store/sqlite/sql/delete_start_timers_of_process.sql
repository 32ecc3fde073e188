-- 3: jobs.JobKind.TIMER
DELETE FROM procession_job
WHERE instance = 0 AND kind = 3
    AND definition IN (SELECT key FROM procession_definition WHERE process_id = :process_id AND tenant = :tenant)
