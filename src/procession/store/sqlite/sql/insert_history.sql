INSERT INTO procession_history (instance, definition, at, events)
VALUES /* rows */ (?, ?, ?, CAST(? AS TEXT)) /* rows */
