-- Recurring jobs that are due, the longest due first.
SELECT tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
FROM procession_recurring
WHERE paused = 0 AND next_at > 0 AND next_at <= ?2
ORDER BY next_at, tenant, name
LIMIT json_extract(?1, '$[0]')
