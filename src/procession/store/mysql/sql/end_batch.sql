UPDATE procession_batch SET state = 2, ended_at = @now WHERE `key` = :key AND state = 0
