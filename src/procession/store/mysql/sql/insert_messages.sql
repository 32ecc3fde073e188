INSERT INTO procession_message (
    `key`, published_at, expires_at, channel, tenant, name, correlation_key, message_id, process_id, process_ids, variables
) VALUES /* rows */ (?, @now, ?, ?, ?, ?, ?, ?, ?, ?, ?) /* rows */
