-- Rows leave the archive.
DELETE FROM procession_job_archive WHERE `key` IN (:a)
