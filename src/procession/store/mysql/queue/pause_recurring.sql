-- Recurring jobs that are held are paused or go on.
UPDATE procession_recurring
SET paused = :paused, next_at = :next_at, version = version + 1
WHERE tenant = :tenant AND name = :name
