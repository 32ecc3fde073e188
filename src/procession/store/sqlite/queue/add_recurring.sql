-- New recurring jobs.
INSERT INTO procession_recurring (
    tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, created_at, cycle, sync_group, job
)
SELECT
    value ->> 'tenant', value ->> 'name', value ->> 'next_at', 0, 0, 0, 1, value ->> 'missed', value ->> 'overlap', 0,
    value ->> 'created_at', value ->> 'cycle', value ->> 'sync_group', value ->> 'job'
FROM json_each(?1)
