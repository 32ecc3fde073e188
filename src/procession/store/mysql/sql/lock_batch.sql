SELECT jobs FROM procession_batch WHERE `key` = :key AND state = 0 AND `cursor` = :cursor FOR UPDATE
