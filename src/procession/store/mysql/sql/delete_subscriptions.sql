DELETE FROM procession_subscription WHERE `key` IN (:keys)
