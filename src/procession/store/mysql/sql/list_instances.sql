SELECT
    `key`, rev, definition, process_id, status, business_id, parent, parent_element_instance, tags, tenant, started_at,
    ended_at, (SELECT COUNT(*) FROM procession_incident AS incident WHERE incident.instance = instance.`key`)
FROM procession_instance AS instance
WHERE `key` < :before
    AND (:process_id = '' OR process_id = :process_id)
    AND (:definition = 0 OR definition = :definition)
    AND (:status = -1 OR status = :status)
    AND (:any_status OR status IN (:statuses))
    AND (:business_id = '' OR business_id = :business_id)
    AND (:parent = 0 OR parent = :parent)
    AND (:tag = '' OR JSON_CONTAINS(tags, :tag_json))
    AND (:tenant = '' OR tenant = :tenant)
    AND (NOT :with_incident OR EXISTS (
        SELECT 1 FROM procession_incident AS incident WHERE incident.instance = instance.`key`
    ))
ORDER BY `key` DESC
LIMIT :limit
