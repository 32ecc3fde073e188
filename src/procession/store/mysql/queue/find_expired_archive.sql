-- Rows of the archive whose time is over and that nobody comes after any more.
SELECT archived.`key`
FROM procession_job_archive AS archived
WHERE archived.expires_at <= :b
    AND NOT EXISTS (SELECT 1 FROM procession_dependency AS link WHERE link.parent = archived.`key`)
ORDER BY archived.expires_at, archived.`key`
LIMIT :a
