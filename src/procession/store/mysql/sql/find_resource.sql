SELECT content FROM procession_resource WHERE `key` = :key
