-- These are claimed again.
DELETE FROM procession_pause
WHERE (kind, name) IN (SELECT value ->> 'kind', value ->> 'name' FROM json_each(?1))
