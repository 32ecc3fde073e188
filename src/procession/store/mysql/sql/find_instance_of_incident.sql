SELECT instance FROM procession_incident WHERE `key` = :key
