-- What a new job brings to the holder of its unique key.
UPDATE procession_job
SET args = u.value ->> 'args', options = u.value ->> 'options', traits = u.value ->> 'traits',
    deadline_at = u.value ->> 'deadline_at', type = u.value ->> 'type', queue = u.value ->> 'queue'
FROM json_each(?1) AS u
WHERE procession_job.key = u.value ->> 'key'
