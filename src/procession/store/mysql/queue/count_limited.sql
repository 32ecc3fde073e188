-- How many jobs wait for a slot or a start of these limits. The keys compare by bytes.
SELECT named.limit_key, COUNT(*)
FROM procession_job AS job FORCE INDEX (ready)
CROSS JOIN JSON_TABLE(job.options, '$.limits[*]' COLUMNS (limit_key VARCHAR(200) CHARACTER SET utf8mb4 PATH '$.key')) AS named
WHERE job.state = 4 AND CAST(named.limit_key AS BINARY) IN (:a)
GROUP BY CAST(named.limit_key AS BINARY), named.limit_key
