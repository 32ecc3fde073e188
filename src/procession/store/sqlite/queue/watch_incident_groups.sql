-- Open incidents by fingerprint, the most frequent first.
SELECT fingerprint, count(*), min(created_at), max(created_at), max(key)
FROM (
    SELECT fingerprint, created_at, key
    FROM procession_incident
    WHERE (json_extract(?1, '$[0].any_tenant') OR tenant IN (SELECT value FROM json_each(json_extract(?1, '$[0].tenants'))))
    ORDER BY key DESC
    LIMIT json_extract(?1, '$[0].look')
)
GROUP BY fingerprint
ORDER BY count(*) DESC, max(key) DESC
LIMIT json_extract(?1, '$[0].limit')
