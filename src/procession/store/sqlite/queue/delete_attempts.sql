-- Attempts go with their jobs.
DELETE FROM procession_job_attempt WHERE job IN (SELECT value FROM json_each(?1))
