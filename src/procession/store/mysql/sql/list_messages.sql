SELECT `key`, name, correlation_key, variables, message_id, published_at, expires_at, tenant
FROM procession_message
WHERE expires_at > @now AND (:name = '' OR name = :name) AND (:tenant = '' OR tenant = :tenant)
ORDER BY published_at, `key`
LIMIT :limit
