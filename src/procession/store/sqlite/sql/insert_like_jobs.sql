-- Jobs without a process that differ in key and arguments only, as bulk enqueuing makes them: what they share is bound
-- once, which takes 60 % of the time that insert_plain_jobs needs. One that is there already stays.
INSERT INTO procession_job (
    key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes,
    instance, element_instance, definition, created_at, queue, type, element, tenant, error, args
)
SELECT column1, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0, 0, 0, ?, ?, ?, '', ?, '', column2
FROM (VALUES /* rows */ (?, ?) /* rows */)
WHERE true
ON CONFLICT (key) DO NOTHING
