-- Which of these queues have limited jobs that are due and in line.
SELECT value
FROM json_each(?1)
WHERE EXISTS (
    SELECT 1 FROM procession_job AS j
    WHERE j.queue = value AND j.state = 4 AND j.waits_for IS NULL AND j.run_at <= ?2
        AND j.type NOT IN (SELECT name FROM procession_pause WHERE kind = 1)
)
    AND value NOT IN (SELECT name FROM procession_pause WHERE kind = 0)
ORDER BY value
