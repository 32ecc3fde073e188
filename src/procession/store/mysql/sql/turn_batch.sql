UPDATE procession_batch SET state = :state WHERE `key` = :key
