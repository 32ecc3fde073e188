-- Of the next instances by key: which they are, and whether they may be deleted.
SELECT
    instance.`key`,
    instance.status IN (1, 2) AND instance.ended_at <= :ended_before
    AND NOT EXISTS (SELECT 1 FROM procession_instance AS caller WHERE caller.`key` = instance.parent)
FROM procession_instance AS instance
WHERE instance.`key` > :after
ORDER BY instance.`key`
LIMIT :limit
