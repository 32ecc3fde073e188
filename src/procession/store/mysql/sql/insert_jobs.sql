INSERT INTO procession_job (
    `key`, kind, state, negative_priority, run_at, due_at, attempt, retries, lease, owner,
    instance, element_instance, definition, queue, type, element, tenant, args, created_at
) VALUES /* rows */ (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, @now) /* rows */
