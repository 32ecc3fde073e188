INSERT INTO history (instance, definition, at, events)
VALUES /* rows */ (?, ?, ?, CAST(? AS TEXT)) /* rows */
