SELECT position, instance, definition, at, events
FROM procession_history
WHERE instance = :instance AND position > :after
ORDER BY position
LIMIT :limit
