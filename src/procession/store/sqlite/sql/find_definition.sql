SELECT
    definition.key, definition.process_id, definition.version, definition.name, definition.version_tag,
    definition.resource, resource.name, resource.checksum, definition.deployment, definition.deployed_at,
    definition.elements, definition.methods, definition.tenant
FROM procession_definition AS definition
JOIN procession_resource AS resource ON resource.key = definition.resource
WHERE definition.process_id = :process_id AND definition.tenant = :tenant AND definition.deleted_at IS NULL
    AND (:version = 0 OR definition.version = :version)
    AND (:version_tag = '' OR definition.version_tag = :version_tag)
    AND (
        :deployment = 0
        OR definition.key IN (SELECT definition FROM procession_deployment_definition WHERE deployment = :deployment)
    )
ORDER BY definition.version DESC
LIMIT 1
