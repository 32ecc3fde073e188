-- How many jobs wait for a slot of these limits, each up to a bound, and how many of the first that are in line for a start.
-- The keys compare by bytes.
SELECT limit_key, SUM(waiting)
FROM (
    SELECT
        held.`key` AS limit_key,
        (SELECT COUNT(*) FROM procession_job AS job WHERE job.line = CONCAT('limit ', held.`key`)) AS waiting
    FROM procession_limit AS held
    WHERE held.`key` IN (:a)
    UNION ALL
    SELECT named.limit_key, COUNT(*)
    FROM (SELECT options FROM procession_job WHERE line LIKE 'queue %' LIMIT :b) AS job
    CROSS JOIN JSON_TABLE(
        job.options, '$.limits[*]' COLUMNS (limit_key VARCHAR(200) CHARACTER SET utf8mb4 PATH '$.key')
    ) AS named
    WHERE CAST(named.limit_key AS BINARY) IN (:a)
    GROUP BY CAST(named.limit_key AS BINARY), named.limit_key
) AS counted
GROUP BY CAST(limit_key AS BINARY), limit_key
HAVING SUM(waiting) > 0
