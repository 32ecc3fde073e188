DELETE FROM procession_history WHERE instance IN (SELECT value FROM json_each(:keys))
