-- Slots that nobody can hold.
DELETE FROM procession_slot
WHERE (limit_key, job) IN (SELECT value ->> 'limit_key', value ->> 'job' FROM json_each(?1))
