DELETE FROM procession_definition WHERE `key` = :key
