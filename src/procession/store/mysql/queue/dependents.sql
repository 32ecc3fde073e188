-- Who waits for these.
SELECT child, parent, either
FROM procession_dependency
WHERE parent IN (:a) AND resolved = 0
ORDER BY child, parent
