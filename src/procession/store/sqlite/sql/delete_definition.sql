-- A version that no instance is of.
DELETE FROM procession_definition
WHERE key = :key AND NOT EXISTS (
    SELECT 1 FROM procession_instance AS instance
    WHERE instance.process_id = procession_definition.process_id AND instance.definition = :key
)
RETURNING resource
