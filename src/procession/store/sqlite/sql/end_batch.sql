-- Items that were taken back were not emitted.
UPDATE procession_batch SET state = 2, ended_at = :now, emitted = emitted - :dropped WHERE key = :key AND state IN (0, 3)
