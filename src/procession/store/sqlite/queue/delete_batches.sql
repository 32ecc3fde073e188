-- Batches of jobs are forgotten.
DELETE FROM procession_job_batch WHERE key IN (SELECT value FROM json_each(?1))
