SELECT instance FROM procession_job WHERE `key` = :key
