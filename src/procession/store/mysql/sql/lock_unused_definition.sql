-- A version that no instance is of.
SELECT definition.resource
FROM procession_definition AS definition
WHERE definition.`key` = :key AND definition.deleted_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM procession_instance AS instance
    WHERE instance.process_id = definition.process_id AND instance.definition = :key
)
FOR UPDATE
