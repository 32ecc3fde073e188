-- Rows of the archive whose time is over and that nobody comes after any more.
SELECT key
FROM procession_job_archive AS a
WHERE expires_at <= ?2 AND NOT EXISTS (SELECT 1 FROM procession_dependency AS d WHERE d.parent = a.key)
ORDER BY expires_at, key
LIMIT json_extract(?1, '$[0]')
