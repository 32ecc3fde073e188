-- Children that wait though nothing holds them up: the parent that has ended and its state, or 0.
SELECT stuck.child, stuck.parent, stuck.either, stuck.state
FROM (
    SELECT
        waiting.`key` AS child, link.parent, link.either,
        COALESCE(
            job.state, archived.state,
            CASE
                WHEN batch.`key` IS NULL THEN 7 WHEN batch.state <> 2 THEN 1
                WHEN batch.deleted > 0 THEN 8 WHEN batch.failed > 0 THEN 5 ELSE 7
            END
        ) AS state
    FROM procession_job AS waiting
    JOIN procession_dependency AS link ON link.child = waiting.`key` AND link.resolved = 0
    LEFT JOIN procession_job AS job ON job.`key` = link.parent
    LEFT JOIN procession_job_archive AS archived ON archived.`key` = link.parent
    LEFT JOIN procession_job_batch AS batch ON batch.`key` = link.parent
    WHERE waiting.state = 3
    UNION ALL
    SELECT waiting.`key`, 0, 0, 7
    FROM procession_job AS waiting
    WHERE waiting.state = 3
        AND NOT EXISTS (
            SELECT 1 FROM procession_dependency AS link WHERE link.child = waiting.`key` AND link.resolved = 0
        )
) AS stuck
WHERE stuck.state IN (7, 8) OR (stuck.state = 5 AND stuck.either = 1)
ORDER BY stuck.child, stuck.parent
LIMIT :a
