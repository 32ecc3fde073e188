-- The batch that a batch of jobs is a member of.
SELECT parent FROM procession_job_batch WHERE `key` = :a
