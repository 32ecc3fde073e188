SELECT instance FROM user_task WHERE key = :key
