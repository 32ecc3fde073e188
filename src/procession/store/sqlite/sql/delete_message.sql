DELETE FROM message WHERE key = :key
