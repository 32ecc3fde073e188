SELECT key, name, correlation_key, CAST(variables AS BLOB), message_id, published_at, expires_at, tenant
FROM procession_message
WHERE (:name = '' OR name = :name) AND (:tenant = '' OR tenant = :tenant) AND spent = 0 AND expires_at > :now
ORDER BY published_at, key
LIMIT :limit
