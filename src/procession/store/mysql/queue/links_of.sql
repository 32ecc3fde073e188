-- What these come after.
SELECT child, parent, either, resolved
FROM procession_dependency
WHERE child IN (:a)
ORDER BY child, parent
