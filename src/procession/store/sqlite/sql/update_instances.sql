-- What every step changes; variables that did not change are NULL. No column of an index is named, so none is written:
-- SQLite writes an index anew whose column is set, be it to the same value.
UPDATE procession_instance AS instance
SET
    rev = rev + 1,
    variables = coalesce(CAST(step.column2 AS TEXT), variables),
    state = step.column3
FROM (VALUES /* rows */ (?, ?, ?) /* rows */) AS step
WHERE instance.key = step.column1
