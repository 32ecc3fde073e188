SELECT definition.version, resource.checksum, definition.methods, definition.key, definition.deleted_at IS NOT NULL
FROM procession_definition AS definition
JOIN procession_resource AS resource ON resource.key = definition.resource
WHERE definition.process_id = :process_id AND definition.tenant = :tenant
ORDER BY definition.version DESC
LIMIT 1
