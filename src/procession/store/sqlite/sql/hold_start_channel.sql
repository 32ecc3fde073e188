INSERT INTO procession_start_channel (process_id, correlation_key, tenant, instance)
VALUES (:process_id, :correlation_key, :tenant, :instance)
ON CONFLICT (process_id, correlation_key, tenant) DO NOTHING
