-- How many of the newest instances there are per status, and how many were looked at.
SELECT status, CAST(SUM(:any_tenant OR tenant IN (:tenants)) AS SIGNED), COUNT(*)
FROM (
    SELECT status, tenant
    FROM procession_instance
    ORDER BY `key` DESC
    LIMIT :look
) AS i
GROUP BY status
