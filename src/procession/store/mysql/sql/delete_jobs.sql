DELETE FROM procession_job WHERE `key` IN (:keys)
