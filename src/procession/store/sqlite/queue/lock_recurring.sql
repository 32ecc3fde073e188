-- Recurring jobs, held until the end of the transaction.
SELECT tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
FROM procession_recurring
WHERE (tenant, name) IN (SELECT value ->> 'tenant', value ->> 'name' FROM json_each(?1))
ORDER BY tenant, name
