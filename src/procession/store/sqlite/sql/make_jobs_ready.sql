UPDATE procession_job SET state = 0, owner = 0 WHERE key IN (SELECT value FROM json_each(:keys))
