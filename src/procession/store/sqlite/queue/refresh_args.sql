-- New arguments for the holder of a unique key.
UPDATE procession_job
SET args = u.value ->> 'args'
FROM json_each(?1) AS u
WHERE procession_job.key = u.value ->> 'key'
