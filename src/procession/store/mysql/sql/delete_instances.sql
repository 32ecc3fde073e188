DELETE FROM procession_instance WHERE `key` IN (:keys)
