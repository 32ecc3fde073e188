DELETE FROM procession_definition
WHERE deleted_at <= :deleted_before AND NOT EXISTS (
    SELECT 1 FROM procession_instance AS instance
    WHERE instance.process_id = procession_definition.process_id AND instance.definition = procession_definition.key
)
RETURNING resource
