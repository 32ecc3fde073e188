-- How many instances a search has looked at, and the last of them.
SELECT count(*), coalesce(min(key), 0)
FROM (
    SELECT key
    FROM procession_instance
    WHERE key < json_extract(?1, '$[0].before')
        AND (json_extract(?1, '$[0].process_id') = '' OR process_id = json_extract(?1, '$[0].process_id'))
        AND (json_extract(?1, '$[0].business_id') = '' OR business_id = json_extract(?1, '$[0].business_id'))
        AND (json_extract(?1, '$[0].parent') = 0 OR parent = json_extract(?1, '$[0].parent'))
        AND (NOT json_extract(?1, '$[0].by_incident') OR key IN (
            SELECT instance FROM procession_incident
            WHERE (json_extract(?1, '$[0].incident_element') = '' OR element = json_extract(?1, '$[0].incident_element'))
                AND (json_extract(?1, '$[0].fingerprint') = '' OR fingerprint = json_extract(?1, '$[0].fingerprint'))
        ))
    ORDER BY key DESC
    LIMIT json_extract(?1, '$[0].look')
)
