-- Steps of all instances after a cursor. A step that took its position earlier may still commit, within its deadline:
-- so steps count when they are older than that.
SELECT 0, position, instance, definition, at, events
FROM procession_history
WHERE position > :b AND :a >= 0 AND at < :d - 20000
ORDER BY position
LIMIT :c
