INSERT INTO procession_job (
    key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes,
    instance, element_instance, definition, created_at, queue, type, element, tenant, error, args
) VALUES (
    :job, :kind, 0, 0, :now, 0, 3, 0, 0, 0,
    :instance, 0, :definition, :now, :queue, '', '', :tenant, '', :command
)
