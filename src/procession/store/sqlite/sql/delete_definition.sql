-- A version that no instance is of.
UPDATE procession_definition SET deleted_at = :now
WHERE key = :key AND deleted_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM procession_instance AS instance
    WHERE instance.process_id = procession_definition.process_id AND instance.definition = :key
)
RETURNING key
