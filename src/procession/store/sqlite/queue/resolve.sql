-- These no longer hold their children up.
UPDATE procession_dependency
SET resolved = 1
FROM json_each(?1) AS u
WHERE child = u.value ->> 'child' AND parent = u.value ->> 'parent'
