SELECT
    `key`, form_id, version, version_tag, resource, resource_name, checksum, deployment, deployed_at, tenant
FROM procession_form
WHERE (:key = 0 OR `key` = :key)
    AND (:form_id = '' OR form_id = :form_id)
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY form_id, version DESC, tenant
