-- Recurring jobs that are held, after a firing.
UPDATE procession_recurring
SET next_at = u.value ->> 'next_at', last_at = u.value ->> 'last_at', last_job = u.value ->> 'last_job',
    fired = u.value ->> 'fired', version = version + 1, firings = u.value ->> 'firings'
FROM json_each(?1) AS u
WHERE tenant = u.value ->> 'tenant' AND name = u.value ->> 'name'
