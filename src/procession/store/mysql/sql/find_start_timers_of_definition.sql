SELECT `key` FROM procession_job WHERE instance = 0 AND definition = :key AND kind = 3 ORDER BY `key`
