SELECT
    key, rev, definition, process_id, status, business_id, parent, parent_element_instance, tags, tenant, started_at,
    ended_at, (SELECT count(*) FROM procession_incident AS incident WHERE incident.instance = instance.key)
FROM procession_instance AS instance
WHERE key IN (SELECT incident.instance FROM procession_incident AS incident) AND key < :before
    AND (:process_id = '' OR process_id = :process_id)
    AND (:definition = 0 OR definition = :definition)
    AND (:status = -1 OR status = :status)
    AND (:statuses = '[]' OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:business_id = '' OR business_id = :business_id)
    AND (:parent = 0 OR parent = :parent)
    AND (:tag = '' OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = :tag))
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY key DESC
LIMIT :limit
