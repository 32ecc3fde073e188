-- The places of the unlimited jobs that are next in a queue.
SELECT priority, run_at, key
FROM procession_job
WHERE state = 0 AND queue = json_extract(?1, '$[0].queue')
    AND type NOT IN (
        SELECT name FROM procession_pause WHERE kind = 1
        UNION ALL
        SELECT value FROM json_each(?1, '$[0].strangers')
    )
ORDER BY priority DESC, run_at, key
LIMIT ?2
