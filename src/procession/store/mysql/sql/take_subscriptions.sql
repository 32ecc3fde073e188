UPDATE procession_subscription SET taken = 1 WHERE `key` IN (:keys)
