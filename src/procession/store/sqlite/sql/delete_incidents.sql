DELETE FROM incident WHERE key IN (SELECT value FROM json_each(:keys))
