INSERT INTO procession_definition (
    `key`, process_id, version, name, version_tag, resource, deployment, deployed_at, tenant, elements, methods
) VALUES (
    :key, :process_id, :version, :name, :version_tag, :resource, :deployment, @now, :tenant, :elements, :methods
)
