-- For a connection that is not ours: plain jobs, which are there when the caller's transaction commits.
-- The character set is named because a database may have another by default, which would make ? of what it lacks.
INSERT INTO procession_job (`key`, kind, state, negative_priority, run_at, due_at, retries, created_at, queue, type, tenant, args)
SELECT
    t.job, 0, IF(t.delay_ms > 0 OR t.run_at > n.now_ms, 2, 0), -t.priority,
    IF(t.run_at > 0, t.run_at, n.now_ms + t.delay_ms),
    IF(t.delay_ms > 0 OR t.run_at > n.now_ms, IF(t.run_at > 0, t.run_at, n.now_ms + t.delay_ms), NULL),
    t.retries, n.now_ms, t.queue, t.type, t.tenant, t.args
FROM
    (SELECT COALESCE(:now, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) AS now_ms) AS n,
    JSON_TABLE(
        :jobs, '$[*]' COLUMNS (
            job BIGINT PATH '$.key', priority INT PATH '$.priority', run_at BIGINT PATH '$.run_at',
            delay_ms BIGINT PATH '$.delay_ms', retries INT PATH '$.retries',
            queue VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.queue',
            type VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.type',
            tenant VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.tenant',
            args LONGTEXT CHARACTER SET utf8mb4 PATH '$.args'
        )
    ) AS t
