-- How many jobs there are per queue and state, each up to a bound; of READY jobs by queue, of others for all queues together.
WITH RECURSIVE ready(queue) AS (
    SELECT min(queue) FROM procession_job WHERE state = 0
    UNION ALL
    SELECT (SELECT min(j.queue) FROM procession_job AS j WHERE j.state = 0 AND j.queue > ready.queue)
    FROM ready
    WHERE ready.queue IS NOT NULL
)
SELECT queue, 0,
       (SELECT count(*) FROM (
           SELECT 1 FROM procession_job AS j WHERE j.state = 0 AND j.queue = ready.queue LIMIT json_extract(?1, '$[0]')))
FROM ready
WHERE queue IS NOT NULL
UNION ALL
SELECT queue, 1, count(*)
FROM (SELECT queue FROM procession_job WHERE state = 1 ORDER BY owner LIMIT json_extract(?1, '$[0]'))
GROUP BY queue
UNION ALL
SELECT queue, 2, count(*)
FROM (SELECT queue FROM procession_job WHERE state = 2 ORDER BY run_at LIMIT json_extract(?1, '$[0]'))
GROUP BY queue
UNION ALL
SELECT queue, 3, count(*)
FROM (SELECT queue FROM procession_job WHERE state = 3 ORDER BY key LIMIT json_extract(?1, '$[0]'))
GROUP BY queue
UNION ALL
SELECT queue, 5, count(*)
FROM (SELECT queue FROM procession_job WHERE state = 5 ORDER BY key LIMIT json_extract(?1, '$[0]'))
GROUP BY queue
UNION ALL
SELECT queue, 6, count(*)
FROM (SELECT queue FROM procession_job WHERE state = 6 ORDER BY key LIMIT json_extract(?1, '$[0]'))
GROUP BY queue
UNION ALL
SELECT queue, 4, count(*)
FROM (
    SELECT queue FROM (
        SELECT queue FROM procession_job
        WHERE state = 4 AND waits_for IS NULL ORDER BY queue, run_at, key LIMIT json_extract(?1, '$[0]'))
    UNION ALL
    SELECT queue FROM (
        SELECT queue FROM procession_job
        WHERE state = 4 AND waits_for IS NOT NULL ORDER BY waits_for, priority DESC, run_at, key
        LIMIT json_extract(?1, '$[0]'))
)
GROUP BY queue
