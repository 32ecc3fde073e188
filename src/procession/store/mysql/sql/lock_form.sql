SELECT resource FROM procession_form WHERE `key` = :key FOR UPDATE
