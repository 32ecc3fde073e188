INSERT INTO deployment (key, deployed_at, tenant) VALUES (:key, :deployed_at, :tenant)
