-- Rare rows: ON DUPLICATE KEY is kept off the hot ones only.
INSERT INTO procession_kept (kind, `key`, name, tenant, created_at, body)
VALUES (:kind, :key, :name, :tenant, @now, :body)
ON DUPLICATE KEY UPDATE name = VALUES(name), tenant = VALUES(tenant), body = VALUES(body)
