-- Nobody claims these.
INSERT INTO procession_pause (kind, name, since, reason)
SELECT value ->> 'kind', value ->> 'name', value ->> 'since', value ->> 'reason' FROM json_each(?1)
WHERE true
ON CONFLICT (kind, name) DO NOTHING
