-- Limits that are held, as they are now.
UPDATE procession_limit
SET most = u.value ->> 'most', rate = u.value ->> 'rate', per_ms = u.value ->> 'per_ms', burst = u.value ->> 'burst',
    reserved_us = u.value ->> 'reserved_us', started_us = u.value ->> 'started_us', moved_us = u.value ->> 'moved_us', late_us = u.value ->> 'late_us'
FROM json_each(?1) AS u
WHERE procession_limit.key = u.value ->> 'key'
