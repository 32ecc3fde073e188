-- What is buffered on a channel, oldest first.
SELECT
    key, name, correlation_key, CAST(variables AS BLOB), message_id, published_at, expires_at, tenant,
    process_id, taken_by, spent
FROM procession_message
WHERE name = :name AND correlation_key = :correlation_key AND tenant = :tenant AND spent = 0 AND expires_at > :now
ORDER BY published_at, key
