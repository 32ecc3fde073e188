INSERT INTO procession_start_subscription (`key`, definition, process_id, element, `trigger`, name, tenant)
VALUES /* rows */ (?, ?, ?, ?, ?, ?, ?) /* rows */
