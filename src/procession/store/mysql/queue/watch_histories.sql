-- The steps of several instances.
SELECT position, instance, definition, at, events
FROM procession_history
WHERE instance IN (:a)
    AND (:b = '' OR events LIKE :b) AND position < :c
ORDER BY instance, position
LIMIT :d
