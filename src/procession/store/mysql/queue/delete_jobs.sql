-- Jobs leave the queue.
DELETE FROM procession_job WHERE `key` IN (:a)
