SELECT jobs FROM procession_batch WHERE `key` = :key AND state = :state FOR UPDATE
