DELETE FROM job WHERE key IN (SELECT value FROM json_each(:keys))
