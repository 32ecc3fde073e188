DELETE FROM procession_subscription WHERE key IN (SELECT value FROM json_each(:keys))
