-- Slots of runs that start.
INSERT INTO procession_slot (limit_key, job, node)
SELECT value ->> 'limit_key', value ->> 'job', value ->> 'node' FROM json_each(?1)
