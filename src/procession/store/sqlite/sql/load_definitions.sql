SELECT
    definition.key, definition.process_id, definition.version, definition.name, definition.version_tag,
    definition.resource, resource.name, resource.checksum, definition.deployment, definition.deployed_at,
    definition.elements, definition.methods, definition.tenant
FROM definition
JOIN resource ON resource.key = definition.resource
WHERE definition.key IN (SELECT value FROM json_each(:keys))
