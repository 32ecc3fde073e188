INSERT INTO procession_batch (key, kind, request, total, tenant, retry_of, created_at)
VALUES (:key, :kind, :request, :total, :tenant, nullif(:retry_of, 0), :now)
ON CONFLICT DO NOTHING
RETURNING key
