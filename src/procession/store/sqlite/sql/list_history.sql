SELECT position, instance, definition, at, CAST(events AS BLOB)
FROM procession_history
WHERE instance = :instance AND position > :after
ORDER BY position
LIMIT :limit
