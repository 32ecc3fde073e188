-- What new jobs come after.
INSERT INTO procession_dependency (child, parent, either, resolved)
VALUES /* rows */ (?child, ?parent, ?either, ?resolved) /* rows */
ON DUPLICATE KEY UPDATE child = VALUES(child)
