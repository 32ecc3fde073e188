INSERT INTO procession_form (
    `key`, form_id, version, version_tag, resource, resource_name, checksum, deployment, deployed_at, tenant
) VALUES (
    :key, :form_id, :version, :version_tag, :resource, :resource_name, :checksum, :deployment, @now, :tenant
)
