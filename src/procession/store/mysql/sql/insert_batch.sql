INSERT INTO procession_batch (`key`, kind, request, total, tenant, retry_of, created_at, jobs)
VALUES (:key, :kind, :request, :total, :tenant, NULLIF(:retry_of, 0), @now, '[]')
