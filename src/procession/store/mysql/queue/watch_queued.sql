-- How many of the newest jobs there are per queue and state, and how many were looked at.
SELECT queue, state, CAST(SUM(:any_tenant OR tenant IN (:tenants)) AS SIGNED), COUNT(*)
FROM (
    SELECT queue, state, tenant
    FROM procession_job
    ORDER BY `key` DESC
    LIMIT :look
) AS j
GROUP BY queue, state
