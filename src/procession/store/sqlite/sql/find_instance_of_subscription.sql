SELECT instance FROM subscription WHERE key = :key
