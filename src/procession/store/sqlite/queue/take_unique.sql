-- Unique keys get other holders.
UPDATE procession_unique_key
SET job = u.value ->> 'job', until = u.value ->> 'until'
FROM json_each(?1) AS u
WHERE tenant = u.value ->> 'tenant' AND procession_unique_key.key = u.value ->> 'key'
