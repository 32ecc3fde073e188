-- Attempts go with their jobs.
DELETE FROM procession_job_attempt WHERE job IN (:a)
