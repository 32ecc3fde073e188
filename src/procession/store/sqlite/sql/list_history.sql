SELECT position, instance, definition, at, CAST(events AS BLOB)
FROM history
WHERE instance = :instance AND position > :after
ORDER BY position
LIMIT :limit
