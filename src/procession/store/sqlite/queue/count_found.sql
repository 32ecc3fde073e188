-- How many of the instances that a search looks at are meant, up to a bound.
SELECT count(*)
FROM (
    SELECT 1
    FROM (
    SELECT *
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
    ) AS i
    WHERE (json_extract(?1, '$[0].definition') = 0 OR i.definition = json_extract(?1, '$[0].definition'))
    AND (json_extract(?1, '$[0].any_status') OR i.status IN (SELECT value FROM json_each(json_extract(?1, '$[0].statuses'))))
    AND (json_extract(?1, '$[0].any_tenant') OR i.tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
    AND (json_extract(?1, '$[0].tag') = '' OR EXISTS (SELECT 1 FROM json_each(i.tags) WHERE value = json_extract(?1, '$[0].tag')))
    AND (json_extract(?1, '$[0].started_from') = 0 OR i.started_at >= json_extract(?1, '$[0].started_from'))
    AND (json_extract(?1, '$[0].started_until') = 0 OR i.started_at < json_extract(?1, '$[0].started_until'))
    AND (json_extract(?1, '$[0].ended_from') = 0 OR i.ended_at >= json_extract(?1, '$[0].ended_from'))
    AND (json_extract(?1, '$[0].ended_until') = 0 OR (i.ended_at > 0 AND i.ended_at < json_extract(?1, '$[0].ended_until')))
    AND (json_extract(?1, '$[0].name_a') = '' OR (
        json_extract(i.variables, json_extract(?1, '$[0].path_a')) IS json_extract(json_extract(?1, '$[0].value_a'), '$')
        AND replace(json_type(i.variables, json_extract(?1, '$[0].path_a')), 'real', 'integer')
            = replace(json_type(json_extract(?1, '$[0].value_a')), 'real', 'integer')
    ))
    AND (json_extract(?1, '$[0].name_b') = '' OR (
        json_extract(i.variables, json_extract(?1, '$[0].path_b')) IS json_extract(json_extract(?1, '$[0].value_b'), '$')
        AND replace(json_type(i.variables, json_extract(?1, '$[0].path_b')), 'real', 'integer')
            = replace(json_type(json_extract(?1, '$[0].value_b')), 'real', 'integer')
    ))
    AND (json_extract(?1, '$[0].name_c') = '' OR (
        json_extract(i.variables, json_extract(?1, '$[0].path_c')) IS json_extract(json_extract(?1, '$[0].value_c'), '$')
        AND replace(json_type(i.variables, json_extract(?1, '$[0].path_c')), 'real', 'integer')
            = replace(json_type(json_extract(?1, '$[0].value_c')), 'real', 'integer')
    ))
    AND (json_extract(?1, '$[0].pattern') = '' OR i.business_id LIKE json_extract(?1, '$[0].pattern') ESCAPE '\'
        OR i.variables LIKE json_extract(?1, '$[0].pattern') ESCAPE '\' OR i.tags LIKE json_extract(?1, '$[0].pattern') ESCAPE '\')
    LIMIT json_extract(?1, '$[0].limit')
)
