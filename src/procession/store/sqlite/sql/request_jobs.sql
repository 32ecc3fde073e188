INSERT INTO procession_job (
    key, kind, state, priority, run_at, attempt, retries, lease, owner, crashes,
    instance, element_instance, definition, created_at, queue, type, element, tenant, error, args
)
SELECT
    value ->> 'key', 0,
    CASE WHEN value ->> 'delay_ms' > 0 OR value ->> 'run_at' > :now THEN 2 ELSE 0 END,
    value ->> 'priority',
    CASE WHEN value ->> 'run_at' > 0 THEN value ->> 'run_at' ELSE :now + (value ->> 'delay_ms') END,
    0, value ->> 'retries', 0, 0, 0, 0, 0, 0, :now,
    value ->> 'queue', value ->> 'type', '', value ->> 'tenant', '', value ->> 'args'
FROM json_each(:jobs)
WHERE true
