-- Who comes after these: at most so many.
SELECT child, parent, either, resolved
FROM procession_dependency
WHERE parent IN (:a)
ORDER BY parent, child
LIMIT :b
