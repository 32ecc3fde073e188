-- Jobs without a process, as bulk enqueuing makes them. What many share is written down once, in one value's place.
INSERT INTO procession_job (
    `key`, kind, state, negative_priority, run_at, due_at, retries, queue, type, tenant, args, created_at
) VALUES /* rows */ (?, ?, ?, @now) /* rows */
