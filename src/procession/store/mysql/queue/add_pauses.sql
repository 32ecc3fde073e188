-- Nobody claims these.
INSERT INTO procession_pause (kind, name, since, reason)
VALUES /* rows */ (?kind, ?name, ?since, ?reason) /* rows */
ON DUPLICATE KEY UPDATE name = VALUES(name)
