-- Open incidents by definition and element.
SELECT definition, element, count(*)
FROM (
    SELECT definition, element
    FROM procession_incident
    WHERE (json_extract(?1, '$[0].definition') = 0 OR definition = json_extract(?1, '$[0].definition'))
    ORDER BY key DESC
    LIMIT json_extract(?1, '$[0].look')
)
GROUP BY definition, element
