-- All queues that have limited jobs whose start is due. The first of each priority is looked up in the index.
SELECT DISTINCT SUBSTRING(line, 7)
FROM (
    SELECT line, MIN(run_at) AS first_at
    FROM procession_job FORCE INDEX (line)
    WHERE line >= 'queue ' AND line < 'queue!'
    GROUP BY line, negative_priority
) AS level
WHERE first_at <= @now
