-- Recurring jobs, held until the end of the transaction.
SELECT tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
FROM procession_recurring
WHERE /* any */ (tenant = ?tenant AND name = ?name) /* any */
ORDER BY tenant, name
FOR UPDATE
