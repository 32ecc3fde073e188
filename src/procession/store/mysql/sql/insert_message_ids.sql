INSERT INTO procession_message_id (identity, message, expires_at) VALUES /* rows */ (?, ?, ?) /* rows */
