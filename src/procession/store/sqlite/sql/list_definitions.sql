SELECT
    definition.key, definition.process_id, definition.version, definition.name, definition.version_tag,
    definition.resource, resource.name, resource.checksum, definition.deployment, definition.deployed_at,
    definition.elements, definition.methods, definition.tenant
FROM procession_definition AS definition
JOIN procession_resource AS resource ON resource.key = definition.resource
WHERE definition.deleted_at IS NULL
    AND (:process_id = '' OR definition.process_id = :process_id)
    AND (:tenant = '' OR definition.tenant = :tenant)
ORDER BY definition.process_id, definition.version DESC, definition.tenant
