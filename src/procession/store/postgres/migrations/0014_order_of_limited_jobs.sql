-- Limited jobs of a queue whose start is due are found by priority, and finished batches of jobs are forgotten once
-- nothing of them is there any more.

create index job_in_line on procession.job (queue, priority desc, run_at, key) where state = 4 and waits_for is null;
create index job_archive_batch on procession.job_archive (batch) where batch is not null;
create index job_batch_finished on procession.job_batch (finished_at, key) where state = 2;
