-- Recurring jobs that are held are paused or go on.
UPDATE procession_recurring
SET paused = u.value ->> 'paused', next_at = u.value ->> 'next_at', version = version + 1
FROM json_each(?1) AS u
WHERE tenant = u.value ->> 'tenant' AND name = u.value ->> 'name'
