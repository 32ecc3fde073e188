-- Jobs without a process, as bulk enqueuing inserts them: half the values to bind. One that is there already stays.
INSERT INTO procession_job (
    key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes,
    instance, element_instance, definition, created_at, queue, type, element, tenant, error, args
) VALUES /* rows */ (?, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0, 0, 0, ?, ?, ?, '', ?, '', CAST(? AS TEXT)) /* rows */
ON CONFLICT (key) DO NOTHING
