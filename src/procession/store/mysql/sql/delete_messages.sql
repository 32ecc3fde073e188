DELETE FROM procession_message WHERE `key` IN (:keys)
