-- Limits with free slots and jobs that wait for one, but nobody who tries: how many should.
SELECT idle.`key`, IF(idle.most > 0, LEAST(idle.most - idle.used, idle.parked), idle.parked)
FROM (
    SELECT
        one.`key`, one.most, (SELECT COUNT(*) FROM procession_slot AS slot WHERE slot.limit_key = one.`key`) AS used,
        (SELECT COUNT(*) FROM procession_job AS job WHERE job.line = CONCAT('limit ', one.`key`)) AS parked
    FROM procession_limit AS one
) AS idle
WHERE idle.parked > 0 AND (idle.most = 0 OR idle.used < idle.most)
    AND NOT EXISTS (
        SELECT 1
        FROM procession_job AS job
        CROSS JOIN JSON_TABLE(job.options, '$.limits[*]' COLUMNS (limit_key VARCHAR(200) CHARACTER SET utf8mb4 PATH '$.key')) AS named
        WHERE job.state = 4 AND job.waits_for IS NULL AND CAST(named.limit_key AS BINARY) = CAST(idle.`key` AS BINARY)
    )
ORDER BY idle.`key`
LIMIT :a
