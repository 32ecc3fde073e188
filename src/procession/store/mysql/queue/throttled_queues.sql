-- Which of these queues have limited jobs that are due and in line.
SELECT DISTINCT queue
FROM procession_job FORCE INDEX (line)
WHERE line IN (:lines) AND run_at <= :b
    AND type NOT IN (SELECT name FROM procession_pause WHERE kind = 1)
    AND queue NOT IN (SELECT name FROM procession_pause WHERE kind = 0)
ORDER BY queue
