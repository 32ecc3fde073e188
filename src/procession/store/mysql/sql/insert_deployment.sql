INSERT INTO procession_deployment (`key`, deployed_at, tenant) VALUES (:key, @now, :tenant)
