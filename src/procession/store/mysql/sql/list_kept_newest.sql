SELECT `key`, name, tenant, created_at, body
FROM procession_kept
WHERE kind = :kind
    AND (:key = 0 OR `key` = :key)
    AND (:name = '' OR name = :name)
    AND (:after = 0 OR `key` < :after)
ORDER BY `key` DESC
LIMIT :limit
