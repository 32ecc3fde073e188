-- Batches of jobs that are held, as they are now.
UPDATE procession_job_batch
SET state = u.value ->> 'state', total = u.value ->> 'total', succeeded = u.value ->> 'succeeded',
    failed = u.value ->> 'failed', deleted = u.value ->> 'deleted', finished_at = u.value ->> 'finished_at'
FROM json_each(?1) AS u
WHERE procession_job_batch.key = u.value ->> 'key'
