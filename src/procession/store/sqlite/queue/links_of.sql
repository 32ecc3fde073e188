-- What these come after.
SELECT child, parent, either, resolved
FROM procession_dependency
WHERE child IN (SELECT value FROM json_each(?1))
ORDER BY child, parent
