-- The keys of jobs in these states, by the index of each state: at most so many. READY ones of one queue,
-- if it is named, and RUNNING ones of one process.
SELECT key FROM (
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 0 AND 0 IN (SELECT value FROM json_each(?1, '$[0].states')) AND queue = json_extract(?1, '$[0].queue') AND json_extract(?1, '$[0].queue') <> '' ORDER BY priority DESC, run_at, key LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 0 AND 0 IN (SELECT value FROM json_each(?1, '$[0].states')) AND json_extract(?1, '$[0].queue') = '' ORDER BY queue, priority DESC, run_at, key LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 1 AND 1 IN (SELECT value FROM json_each(?1, '$[0].states')) AND json_extract(?1, '$[0].owner') IN (0, owner) ORDER BY owner LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 2 AND 2 IN (SELECT value FROM json_each(?1, '$[0].states')) ORDER BY run_at LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 3 AND 3 IN (SELECT value FROM json_each(?1, '$[0].states')) ORDER BY key LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 4 AND waits_for IS NULL AND 4 IN (SELECT value FROM json_each(?1, '$[0].states')) ORDER BY queue, run_at, key LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 4 AND waits_for IS NOT NULL AND 4 IN (SELECT value FROM json_each(?1, '$[0].states')) ORDER BY waits_for, priority DESC, run_at, key LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 5 AND 5 IN (SELECT value FROM json_each(?1, '$[0].states')) ORDER BY key LIMIT json_extract(?1, '$[0].most'))
    UNION ALL
    SELECT key FROM (SELECT key FROM procession_job WHERE state = 6 AND 6 IN (SELECT value FROM json_each(?1, '$[0].states')) ORDER BY key LIMIT json_extract(?1, '$[0].most'))
)
LIMIT json_extract(?1, '$[0].most')
