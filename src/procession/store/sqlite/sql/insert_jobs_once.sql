-- As insert_jobs; a job that is there already stays as it is.
INSERT INTO procession_job (
    key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes,
    instance, element_instance, definition, created_at, queue, type, element, tenant, error, args
) VALUES /* rows */ (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, '', CAST(? AS TEXT)) /* rows */
ON CONFLICT (key) DO NOTHING
