INSERT INTO procession_batch (key, kind, request, total, tenant, created_at)
VALUES (:key, :kind, :request, :total, :tenant, :now)
ON CONFLICT DO NOTHING
RETURNING key
