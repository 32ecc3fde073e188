SELECT `key` FROM procession_job WHERE `key` IN (:keys) AND state = 5 ORDER BY `key` FOR UPDATE
