SELECT
    `key`, decision_id, version, name, version_tag, requirements_id, resource, resource_name, imports, checksum,
    deployment, deployed_at, tenant
FROM procession_decision
WHERE decision_id = :decision_id AND tenant = :tenant
    AND (:version = 0 OR version = :version)
    AND (:version_tag = '' OR version_tag = :version_tag)
    AND (:deployment = 0 OR `key` IN (
        SELECT meant.decision FROM procession_deployment_decision AS meant WHERE meant.deployment = :deployment
    ))
ORDER BY version DESC
LIMIT 1
