-- Somebody wants these runs to end.
UPDATE procession_job
SET cancel_reason = u.value ->> 'reason', traits = u.value ->> 'traits'
FROM json_each(?1) AS u
WHERE procession_job.key = u.value ->> 'key'
