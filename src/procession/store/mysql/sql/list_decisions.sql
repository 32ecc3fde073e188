SELECT
    `key`, decision_id, version, name, version_tag, requirements_id, resource, resource_name, imports, checksum,
    deployment, deployed_at, tenant
FROM procession_decision
WHERE (:decision_id = '' OR decision_id = :decision_id)
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY decision_id, version DESC, tenant
