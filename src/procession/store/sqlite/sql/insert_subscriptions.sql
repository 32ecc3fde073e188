INSERT INTO procession_subscription (
    key, instance, element_instance, definition, "trigger", once, taken, created_at,
    process_id, element, name, correlation_key, tenant
) VALUES /* rows */ (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) /* rows */
