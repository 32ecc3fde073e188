-- These no longer hold their children up.
UPDATE procession_dependency
SET resolved = 1
FROM json_each(?1) AS u
WHERE procession_dependency.child = u.value ->> 'child'
    AND procession_dependency.parent = u.value ->> 'parent'
