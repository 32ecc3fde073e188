-- The job that asked for a submission is done, if it is held under this lease.
SELECT `key` FROM procession_job WHERE `key` = :a AND lease = :b AND state = 1 FOR UPDATE;
DELETE FROM procession_job WHERE `key` = :a AND lease = :b AND state = 1
