-- Jobs leave the queue.
DELETE FROM procession_job WHERE key IN (SELECT value FROM json_each(?1))
