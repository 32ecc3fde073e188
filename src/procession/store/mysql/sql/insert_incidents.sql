INSERT INTO procession_incident (
    `key`, instance, element_instance, definition, job, created_at, element, process_id, kind, message, fingerprint, tenant
) VALUES /* rows */ (?, ?, ?, ?, ?, @now, ?, ?, ?, ?, ?, ?) /* rows */
