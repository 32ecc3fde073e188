-- A page of limits.
SELECT `key`
FROM procession_limit
WHERE (:key = '' OR `key` = :key) AND `key` > :after
ORDER BY `key`
LIMIT :limit
