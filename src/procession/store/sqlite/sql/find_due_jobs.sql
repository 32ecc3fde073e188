SELECT json_group_array(json_array(key, queue))
FROM (
    SELECT key, queue FROM procession_job
    WHERE state = 2 AND run_at <= :now
    ORDER BY run_at, key
    LIMIT :limit
)
