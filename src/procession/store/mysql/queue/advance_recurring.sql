-- Recurring jobs that are held, after a firing.
UPDATE procession_recurring
SET next_at = :next_at, last_at = :last_at, last_job = :last_job, fired = :fired, version = version + 1,
    firings = :firings
WHERE tenant = :tenant AND name = :name
