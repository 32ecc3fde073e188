-- Batches of jobs are forgotten.
DELETE FROM procession_job_batch WHERE `key` IN (:a)
