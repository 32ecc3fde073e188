-- Open incidents by definition and element.
SELECT definition, element, COUNT(*)
FROM (
    SELECT definition, element
    FROM procession_incident
    WHERE (:definition = 0 OR definition = :definition)
    ORDER BY `key` DESC
    LIMIT :look
) AS i
GROUP BY definition, element
