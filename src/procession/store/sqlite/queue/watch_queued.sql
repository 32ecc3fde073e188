-- How many of the newest jobs there are per queue and state, and how many were looked at.
SELECT queue, state,
       sum(json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants')))),
       count(*)
FROM (
    SELECT queue, state, tenant
    FROM procession_job
    ORDER BY key DESC
    LIMIT json_extract(?1, '$[0].look')
)
GROUP BY queue, state
