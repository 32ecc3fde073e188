-- Jobs that are held, as they are now; nobody owns them.
UPDATE procession_job
SET state = u.value ->> 'state', run_at = u.value ->> 'run_at', priority = u.value ->> 'priority',
    attempt = u.value ->> 'attempt', retries = u.value ->> 'retries', crashes = u.value ->> 'crashes',
    error = coalesce(u.value ->> 'error', ''), waits_for = u.value ->> 'waits_for', ended_at = u.value ->> 'ended_at',
    owner = 0
FROM json_each(?1) AS u
WHERE procession_job.key = u.value ->> 'key'
