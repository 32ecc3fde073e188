INSERT INTO procession_history (instance, definition, at, events)
VALUES /* rows */ (?, ?, @now, ?) /* rows */
