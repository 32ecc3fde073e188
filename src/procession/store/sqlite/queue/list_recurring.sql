-- A page of recurring jobs.
SELECT tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
FROM procession_recurring
WHERE (json_extract(?1, '$[0].name') = '' OR name = json_extract(?1, '$[0].name'))
    AND (json_extract(?1, '$[0].group') IS NULL OR sync_group = json_extract(?1, '$[0].group'))
    AND (json_extract(?1, '$[0].tenant') = '' OR tenant = json_extract(?1, '$[0].tenant'))
    AND name > json_extract(?1, '$[0].after')
ORDER BY name, tenant
LIMIT json_extract(?1, '$[0].limit')
