DELETE FROM procession_user_task WHERE `key` IN (:keys)
