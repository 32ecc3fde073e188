INSERT INTO procession_decision (
    `key`, decision_id, version, name, version_tag, requirements_id, resource, resource_name, imports, checksum,
    deployment, deployed_at, tenant
) VALUES (
    :key, :decision_id, :version, :name, :version_tag, :requirements_id, :resource, :resource_name, :imports, :checksum,
    :deployment, @now, :tenant
)
