SELECT `key` FROM procession_job WHERE `key` IN (:keys) AND state = 5 AND traits IS NULL ORDER BY `key` FOR UPDATE
