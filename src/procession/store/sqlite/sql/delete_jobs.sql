DELETE FROM procession_job WHERE key IN (SELECT value FROM json_each(:keys))
