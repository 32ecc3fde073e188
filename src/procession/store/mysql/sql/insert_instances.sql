INSERT INTO procession_instance (
    `key`, rev, definition, status, parent, parent_element_instance, started_at, ended_at,
    process_id, business_id, tenant, tags, variables, state
) VALUES /* rows */ (?, 1, ?, ?, ?, ?, @now, ?, ?, ?, ?, ?, ?, ?) /* rows */
