-- Logs go with their jobs.
DELETE FROM procession_job_log WHERE job IN (:a)
