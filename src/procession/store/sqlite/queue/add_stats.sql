-- Add to the counts per minute.
INSERT INTO procession_job_stat (minute, queue, type, enqueued, succeeded, failed, retried, run_ms)
SELECT
    value ->> 'minute', value ->> 'queue', value ->> 'type', value ->> 'enqueued', value ->> 'succeeded', value ->> 'failed',
    value ->> 'retried', value ->> 'run_ms'
FROM json_each(?1)
WHERE true
ON CONFLICT (minute, queue, type) DO UPDATE
SET enqueued = enqueued + excluded.enqueued, succeeded = succeeded + excluded.succeeded, failed = failed + excluded.failed,
    retried = retried + excluded.retried, run_ms = run_ms + excluded.run_ms
