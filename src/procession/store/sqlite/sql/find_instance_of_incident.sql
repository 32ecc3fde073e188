SELECT instance FROM incident WHERE key = :key
