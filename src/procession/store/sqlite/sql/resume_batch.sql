UPDATE procession_batch SET state = 0 WHERE key = :key AND state = 3
