-- New recurring jobs.
INSERT INTO procession_recurring (
    tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, created_at, cycle, sync_group, job
) VALUES /* rows */ (
    ?tenant, ?name, ?next_at, 0, 0, 0, 1, ?missed, ?overlap, 0, ?created_at, ?cycle, ?sync_group, ?job
) /* rows */
