DELETE FROM procession_instance WHERE key IN (SELECT value FROM json_each(:keys))
