-- Deadlines that begin anew or are dropped.
UPDATE procession_job
SET deadline_at = u.value ->> 'deadline_at'
FROM json_each(?1) AS u
WHERE procession_job.key = u.value ->> 'key'
