-- A file that no version is of any more.
DELETE FROM procession_resource
WHERE `key` = :key
    AND NOT EXISTS (SELECT 1 FROM procession_definition AS definition WHERE definition.resource = :key)
    AND NOT EXISTS (SELECT 1 FROM procession_decision AS decision WHERE decision.resource = :key)
    AND NOT EXISTS (SELECT 1 FROM procession_form AS form WHERE form.resource = :key)
