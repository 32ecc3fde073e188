-- The queues, of those whose lines these are, that have limited jobs whose start is due. The first of each priority is
-- looked up in the index, however many wait.
SELECT DISTINCT SUBSTRING(line, 7)
FROM (
    SELECT line, MIN(run_at) AS first_at
    FROM procession_job FORCE INDEX (line)
    WHERE line IN (:lines)
    GROUP BY line, negative_priority
) AS level
WHERE first_at <= @now
