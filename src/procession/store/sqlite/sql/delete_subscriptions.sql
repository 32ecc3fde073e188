DELETE FROM subscription WHERE key IN (SELECT value FROM json_each(:keys))
