-- The steps of several instances.
SELECT position, instance, definition, at, events
FROM procession_history
WHERE instance IN (SELECT value FROM json_each(?1))
    AND (?2 = '' OR events LIKE ?2 ESCAPE '\') AND position < ?3
ORDER BY instance, position
LIMIT ?4
