SELECT key, tenant FROM instance WHERE key IN (SELECT value FROM json_each(:keys))
