-- Batches of jobs that are held, as they are now.
UPDATE procession_job_batch
SET
    state = :state, total = :total, succeeded = :succeeded, failed = :failed, deleted = :deleted,
    finished_at = :finished_at
WHERE `key` = :key
