-- How many of the newest instances there are per status, and how many were looked at.
SELECT status,
       sum(json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants')))),
       count(*)
FROM (
    SELECT status, tenant
    FROM procession_instance
    ORDER BY key DESC
    LIMIT json_extract(?1, '$[0].look')
)
GROUP BY status
