-- Recurring jobs that are held, as they were declared.
UPDATE procession_recurring
SET next_at = u.value ->> 'next_at', missed = u.value ->> 'missed', overlap = u.value ->> 'overlap',
    cycle = u.value ->> 'cycle', sync_group = u.value ->> 'sync_group', job = u.value ->> 'job', version = version + 1
FROM json_each(?1) AS u
WHERE tenant = u.value ->> 'tenant' AND name = u.value ->> 'name'
