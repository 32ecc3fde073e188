-- Steps of all instances after a cursor; nothing is written out of order here.
SELECT 0, position, instance, definition, at, events
FROM procession_history
WHERE position > ?2 AND ?1 >= 0 AND ?4 > 0
ORDER BY position
LIMIT ?3
