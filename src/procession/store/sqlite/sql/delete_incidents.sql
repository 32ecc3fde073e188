DELETE FROM procession_incident WHERE key IN (SELECT value FROM json_each(:keys))
