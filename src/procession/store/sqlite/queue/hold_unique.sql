-- Take unique keys that nobody holds; the others stay as they are.
INSERT INTO procession_unique_key (tenant, key, job, until)
SELECT value ->> 'tenant', value ->> 'key', value ->> 'job', value ->> 'until'
FROM json_each(?1)
WHERE true
ON CONFLICT (tenant, key) DO NOTHING
