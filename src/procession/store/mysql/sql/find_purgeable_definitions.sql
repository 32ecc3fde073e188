-- Versions deleted long ago that no instance is of.
SELECT definition.`key`, definition.resource
FROM procession_definition AS definition
WHERE definition.deleted_at <= :deleted_before AND NOT EXISTS (
    SELECT 1 FROM procession_instance AS instance
    WHERE instance.process_id = definition.process_id AND instance.definition = definition.`key`
)
ORDER BY definition.`key`
FOR UPDATE
