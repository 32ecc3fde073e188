-- Those that are first in line for a slot of a limit.
SELECT `key`, queue
FROM procession_job FORCE INDEX (line)
WHERE line = CONCAT('limit ', :a)
ORDER BY negative_priority, run_at, `key`
LIMIT :b
