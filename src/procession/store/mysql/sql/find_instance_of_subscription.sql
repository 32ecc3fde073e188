SELECT instance FROM procession_subscription WHERE `key` = :key
