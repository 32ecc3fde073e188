-- Deadlines that begin anew or are dropped.
UPDATE procession_job SET deadline_at = :deadline_at WHERE `key` = :key
