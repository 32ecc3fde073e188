-- A page of instances by any condition, newest first, among so many that are looked at.
SELECT
    i.`key`, i.rev, i.definition, i.process_id, i.status, i.business_id, i.parent, i.parent_element_instance, i.tags,
    i.tenant, i.started_at, i.ended_at, CASE WHEN :with_state THEN i.state END,
    (SELECT COUNT(*) FROM procession_incident AS incident WHERE incident.instance = i.`key`)
FROM (
    SELECT *
    FROM procession_instance
    WHERE `key` < :before
        AND (:process_id = '' OR process_id = :process_id)
        AND (:business_id = '' OR business_id = :business_id)
        AND (:parent = 0 OR parent = :parent)
        AND (NOT :by_incident OR `key` IN (
            SELECT instance FROM procession_incident
            WHERE (:incident_element = '' OR element = :incident_element)
                AND (:fingerprint = '' OR fingerprint = :fingerprint)
        ))
    ORDER BY `key` DESC
    LIMIT :look
) AS i
WHERE (:definition = 0 OR i.definition = :definition)
    AND (:any_status OR i.status IN (:statuses))
    AND (:any_tenant OR i.tenant IN (:tenants))
    AND (:tag = '' OR JSON_CONTAINS(i.tags, :tag_json))
    AND (:started_from = 0 OR i.started_at >= :started_from)
    AND (:started_until = 0 OR i.started_at < :started_until)
    AND (:ended_from = 0 OR i.ended_at >= :ended_from)
    AND (:ended_until = 0 OR (i.ended_at > 0 AND i.ended_at < :ended_until))
    AND (:name_a = '' OR (
        JSON_CONTAINS(i.variables, :value_a, :path_a)
        AND JSON_TYPE(JSON_EXTRACT(i.variables, :path_a)) NOT IN ('ARRAY', 'OBJECT')
    ))
    AND (:name_b = '' OR (
        JSON_CONTAINS(i.variables, :value_b, :path_b)
        AND JSON_TYPE(JSON_EXTRACT(i.variables, :path_b)) NOT IN ('ARRAY', 'OBJECT')
    ))
    AND (:name_c = '' OR (
        JSON_CONTAINS(i.variables, :value_c, :path_c)
        AND JSON_TYPE(JSON_EXTRACT(i.variables, :path_c)) NOT IN ('ARRAY', 'OBJECT')
    ))
    AND (:pattern = '' OR LOWER(i.business_id) LIKE LOWER(:pattern) OR LOWER(i.variables) LIKE LOWER(:pattern)
        OR LOWER(i.tags) LIKE LOWER(:pattern))
ORDER BY i.`key` DESC
LIMIT :limit
