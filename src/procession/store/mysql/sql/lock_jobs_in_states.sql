SELECT `key` FROM procession_job WHERE `key` IN (:keys) AND state IN (:states) ORDER BY `key` FOR UPDATE
