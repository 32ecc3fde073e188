-- In which priorities these queues have limited jobs that are due and in line, from the highest down.
WITH RECURSIVE level (queue, priority) AS (
    SELECT
        asked.value,
        (
            SELECT j.priority
            FROM procession_job AS j
            WHERE j.queue = asked.value AND j.state = 4 AND j.waits_for IS NULL
            ORDER BY j.priority DESC
            LIMIT 1
        )
    FROM json_each(?1) AS asked
    WHERE asked.value NOT IN (SELECT name FROM procession_pause WHERE kind = 0)
    UNION ALL
    SELECT
        level.queue,
        (
            SELECT j.priority
            FROM procession_job AS j
            WHERE j.queue = level.queue AND j.state = 4 AND j.waits_for IS NULL AND j.priority < level.priority
            ORDER BY j.priority DESC
            LIMIT 1
        )
    FROM level
    WHERE level.priority IS NOT NULL
)
SELECT queue, priority
FROM level
WHERE priority IS NOT NULL AND (
    SELECT j.run_at
    FROM procession_job AS j
    WHERE j.queue = level.queue AND j.state = 4 AND j.waits_for IS NULL AND j.priority = level.priority
        AND j.type NOT IN (SELECT name FROM procession_pause WHERE kind = 1)
    ORDER BY j.run_at
    LIMIT 1
) <= ?2
ORDER BY queue, priority DESC
