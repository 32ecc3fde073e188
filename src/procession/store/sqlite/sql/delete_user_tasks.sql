DELETE FROM procession_user_task WHERE key IN (SELECT value FROM json_each(:keys))
