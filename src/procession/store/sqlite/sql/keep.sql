INSERT INTO procession_kept (kind, key, name, tenant, created_at, body)
VALUES (:kind, :key, :name, :tenant, :created_at, :body)
ON CONFLICT (kind, key) DO UPDATE SET name = excluded.name, tenant = excluded.tenant, body = excluded.body
