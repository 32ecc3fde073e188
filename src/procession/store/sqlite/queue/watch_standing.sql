-- How much there is, each counted up to a bound; the oldest among the ready jobs that were counted.
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM procession_job
        WHERE state = 0 AND (json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
        LIMIT json_extract(?1, '$[0].most')
    )),
    (SELECT count(*) FROM (
        SELECT 1 FROM procession_job
        WHERE state = 1 AND (json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
        LIMIT json_extract(?1, '$[0].most')
    )),
    (SELECT count(*) FROM (
        SELECT 1 FROM procession_job
        WHERE state = 2 AND (json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
        LIMIT json_extract(?1, '$[0].most')
    )),
    (SELECT count(*) FROM (
        SELECT 1 FROM procession_incident
        WHERE (json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
        LIMIT json_extract(?1, '$[0].most')
    )),
    (SELECT count(*) FROM (
        SELECT 1 FROM procession_user_task
        WHERE (json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
        LIMIT json_extract(?1, '$[0].most')
    )),
    (SELECT min(run_at) FROM (
        SELECT run_at FROM procession_job
        WHERE state = 0 AND (json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
        LIMIT json_extract(?1, '$[0].most')
    ))
