-- How many instances a search has looked at, and the last of them.
SELECT COUNT(*), COALESCE(MIN(seen.`key`), 0)
FROM (
    SELECT `key`
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
) AS seen
