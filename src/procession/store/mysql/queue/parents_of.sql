-- What a job comes after.
SELECT parent FROM procession_dependency WHERE child = :a ORDER BY parent
