-- Finished batches of jobs are forgotten once nothing of them is there any more. (Limited jobs are found by priority
-- through the index `line`, which other stores have from here on.)

ALTER TABLE procession_job_batch ADD INDEX finished (state, finished_at, `key`);
