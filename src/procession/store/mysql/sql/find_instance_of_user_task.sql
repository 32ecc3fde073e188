SELECT instance FROM procession_user_task WHERE `key` = :key
