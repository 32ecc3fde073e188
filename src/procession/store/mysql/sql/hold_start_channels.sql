INSERT INTO procession_start_channel (tenant, process_id, correlation_key, instance)
VALUES /* rows */ (?, ?, ?, ?) /* rows */
