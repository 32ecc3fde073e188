-- These no longer hold their children up.
UPDATE procession_dependency SET resolved = 1 WHERE child = :child AND parent = :parent
