-- New arguments for the holder of a unique key.
UPDATE procession_job SET args = :args WHERE `key` = :key
