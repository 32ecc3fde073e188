UPDATE procession_batch SET state = 3 WHERE key = :key AND state = 0
