DELETE FROM procession_incident WHERE `key` IN (:keys)
