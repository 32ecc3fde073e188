SELECT content FROM resource WHERE key = :key
