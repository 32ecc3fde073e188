-- They try next.
UPDATE procession_job SET waits_for = NULL WHERE `key` IN (:a)
