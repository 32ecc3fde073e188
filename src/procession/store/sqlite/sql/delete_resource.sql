-- A file that no version is of any more.
DELETE FROM procession_resource
WHERE key = :key
    AND NOT EXISTS (SELECT 1 FROM procession_definition WHERE resource = :key)
    AND NOT EXISTS (SELECT 1 FROM procession_decision WHERE resource = :key)
