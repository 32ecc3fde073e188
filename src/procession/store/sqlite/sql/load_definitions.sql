SELECT
    definition.key, definition.process_id, definition.version, definition.name, definition.version_tag,
    definition.resource, resource.name, resource.checksum, definition.deployment, definition.deployed_at,
    definition.elements, definition.methods, definition.tenant, definition.deleted_at IS NOT NULL
FROM procession_definition AS definition
JOIN procession_resource AS resource ON resource.key = definition.resource
WHERE definition.key IN (SELECT value FROM json_each(:keys))
