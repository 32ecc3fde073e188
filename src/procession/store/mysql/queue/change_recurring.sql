-- Recurring jobs that are held, as they were declared.
UPDATE procession_recurring
SET
    next_at = :next_at, missed = :missed, overlap = :overlap, cycle = :cycle, sync_group = :sync_group, job = :job,
    version = version + 1
WHERE tenant = :tenant AND name = :name
