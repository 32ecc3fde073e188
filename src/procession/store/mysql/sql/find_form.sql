SELECT
    `key`, form_id, version, version_tag, resource, resource_name, checksum, deployment, deployed_at, tenant
FROM procession_form
WHERE form_id = :form_id AND tenant = :tenant
    AND (:version = 0 OR version = :version)
    AND (:version_tag = '' OR version_tag = :version_tag)
    AND (:deployment = 0 OR `key` IN (
        SELECT meant.form FROM procession_deployment_form AS meant WHERE meant.deployment = :deployment
    ))
ORDER BY version DESC
LIMIT 1
