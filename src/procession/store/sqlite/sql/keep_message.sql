INSERT INTO procession_message (
    key, published_at, expires_at, spent, name, correlation_key, tenant, message_id, process_id, taken_by, variables
) VALUES (
    :key, :published_at, :expires_at, :spent, :name, :correlation_key, :tenant, :message_id, :process_id,
    :taken_by, CAST(:variables AS TEXT)
)
ON CONFLICT (key) DO UPDATE SET spent = excluded.spent, taken_by = excluded.taken_by
