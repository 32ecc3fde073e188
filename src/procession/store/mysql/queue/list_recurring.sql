-- A page of recurring jobs.
SELECT tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
FROM procession_recurring
WHERE (:name = '' OR name = :name)
    AND (:group IS NULL OR sync_group = :group)
    AND (:tenant = '' OR tenant = :tenant)
    AND name > :after
ORDER BY name, tenant
LIMIT :limit
