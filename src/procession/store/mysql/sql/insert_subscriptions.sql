INSERT INTO procession_subscription (
    `key`, instance, element_instance, definition, `trigger`, once, taken, channel,
    process_id, element, name, correlation_key, tenant
) VALUES /* rows */ (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) /* rows */
