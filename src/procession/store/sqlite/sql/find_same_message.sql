SELECT key FROM procession_message
WHERE message_id = :message_id AND message_id <> '' AND name = :name AND correlation_key = :correlation_key
    AND tenant = :tenant
