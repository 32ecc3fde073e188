-- Open incidents by fingerprint, the most frequent first.
SELECT fingerprint, COUNT(*), MIN(created_at), MAX(created_at), MAX(`key`)
FROM (
    SELECT fingerprint, created_at, `key`
    FROM procession_incident
    WHERE (:any_tenant OR tenant IN (:tenants))
    ORDER BY `key` DESC
    LIMIT :look
) AS i
GROUP BY fingerprint
ORDER BY COUNT(*) DESC, MAX(`key`) DESC
LIMIT :limit
