-- Unique keys that nobody can hold.
DELETE FROM procession_unique_key
WHERE (tenant, key) IN (SELECT value ->> 'tenant', value ->> 'key' FROM json_each(?1))
