-- Jobs with their options. One that is there already stays as it is.
INSERT INTO procession_job (
    key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes, instance, element_instance, definition,
    created_at, queue, type, element, tenant, error, args, traits, options, batch, deadline_at, waits_for
)
SELECT
    value ->> 'key', value ->> 'kind', value ->> 'state', value ->> 'priority', value ->> 'run_at',
    value ->> 'owner' IS NOT NULL, value ->> 'retries', value ->> 'owner' IS NOT NULL, coalesce(value ->> 'owner', 0),
    0, 0, 0, 0, value ->> 'created_at', value ->> 'queue', value ->> 'type', '', coalesce(value ->> 'tenant', ''), '',
    value ->> 'args', value ->> 'traits', value ->> 'options', value ->> 'batch', value ->> 'deadline_at',
    value ->> 'waits_for'
FROM json_each(?1)
WHERE true
ON CONFLICT (key) DO NOTHING
