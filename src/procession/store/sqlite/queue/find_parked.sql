-- Those that are first in line for a slot of a limit.
SELECT key, queue
FROM procession_job
WHERE waits_for = json_extract(?1, '$[0]') AND state = 4 AND waits_for IS NOT NULL
ORDER BY priority DESC, run_at, key
LIMIT ?2
