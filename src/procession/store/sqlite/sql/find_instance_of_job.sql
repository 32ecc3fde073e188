SELECT instance FROM job WHERE key = :key
