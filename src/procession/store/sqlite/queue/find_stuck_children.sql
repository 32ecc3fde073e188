-- Children that wait though nothing holds them up: the parent that has ended and its state, or 0.
SELECT d.child, d.parent, d.either, d.state
FROM (
    SELECT
        c.key AS child, d.parent, d.either,
        coalesce(
            j.state, a.state,
            CASE WHEN b.key IS NULL THEN 7 WHEN b.state <> 2 THEN 1 WHEN b.deleted > 0 THEN 8 WHEN b.failed > 0 THEN 5 ELSE 7 END
        ) AS state
    FROM procession_job AS c
    JOIN procession_dependency AS d ON d.child = c.key AND d.resolved = 0
    LEFT JOIN procession_job AS j ON j.key = d.parent
    LEFT JOIN procession_job_archive AS a ON a.key = d.parent
    LEFT JOIN procession_job_batch AS b ON b.key = d.parent
    WHERE c.state = 3
    UNION ALL
    SELECT c.key, 0, 0, 7
    FROM procession_job AS c
    WHERE c.state = 3
        AND NOT EXISTS (SELECT 1 FROM procession_dependency AS d WHERE d.child = c.key AND d.resolved = 0)
) AS d
WHERE d.state IN (7, 8) OR (d.state = 5 AND d.either = 1)
ORDER BY d.child, d.parent
LIMIT json_extract(?1, '$[0]')
