-- Who comes after these: at most so many.
SELECT child, parent, either, resolved
FROM procession_dependency
WHERE parent IN (SELECT value FROM json_each(?1))
ORDER BY parent, child
LIMIT ?2
