INSERT INTO procession_batch_error (batch, item, message) VALUES /* rows */ (?, ?, ?) /* rows */
