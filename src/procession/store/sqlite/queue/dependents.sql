-- Who waits for these.
SELECT child, parent, either
FROM procession_dependency
WHERE parent IN (SELECT value FROM json_each(?1)) AND resolved = 0
ORDER BY child, parent
