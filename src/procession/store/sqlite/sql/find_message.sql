SELECT
    key, name, correlation_key, CAST(variables AS BLOB), message_id, published_at, expires_at, tenant,
    process_id, taken_by, spent
FROM procession_message
WHERE key = :key
