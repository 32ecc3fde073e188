-- In which priorities these queues have limited jobs that are due and in line, from the highest down. The first of each
-- priority is looked up in the index `line`, however many jobs there are; types that are paused are left out later.
SELECT queue, -negative_priority
FROM (
    SELECT SUBSTRING(line, 7) AS queue, negative_priority, MIN(run_at) AS first_at
    FROM procession_job FORCE INDEX (line)
    WHERE line IN (:lines)
    GROUP BY line, negative_priority
) AS level
WHERE first_at <= :b AND queue NOT IN (SELECT name FROM procession_pause WHERE kind = 0)
ORDER BY queue, negative_priority
