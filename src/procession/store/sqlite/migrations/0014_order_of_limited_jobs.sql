-- Limited jobs of a queue whose start is due are found by priority, and finished batches of jobs are forgotten once
-- nothing of them is there any more.

CREATE INDEX procession_job_in_line ON procession_job (queue, priority DESC, run_at, key)
WHERE state = 4 AND waits_for IS NULL;
CREATE INDEX procession_job_archive_batch ON procession_job_archive (batch) WHERE batch IS NOT NULL;
CREATE INDEX procession_job_batch_finished ON procession_job_batch (finished_at, key) WHERE state = 2;
