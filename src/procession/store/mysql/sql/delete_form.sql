DELETE FROM procession_form WHERE `key` = :key
