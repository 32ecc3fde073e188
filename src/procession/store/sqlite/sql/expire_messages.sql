DELETE FROM message
WHERE key IN (SELECT key FROM message WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit)
