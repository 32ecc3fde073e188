-- Of the next instances by key: which they are, and whether they may be deleted.
SELECT
    key,
    status IN (1, 2) AND ended_at <= :ended_before
    AND NOT EXISTS (SELECT 1 FROM procession_instance AS caller WHERE caller.key = instance.parent)
FROM procession_instance AS instance
WHERE key > :after
ORDER BY key
LIMIT :limit
