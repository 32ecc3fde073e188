-- Rows leave the archive.
DELETE FROM procession_job_archive WHERE key IN (SELECT value FROM json_each(?1))
