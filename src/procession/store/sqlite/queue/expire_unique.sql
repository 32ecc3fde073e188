-- Unique keys that were held for a time, which is over.
DELETE FROM procession_unique_key
WHERE (tenant, key) IN (
    SELECT tenant, key FROM procession_unique_key WHERE until IS NOT NULL AND until <= ?2 ORDER BY until LIMIT json_extract(?1, '$[0]')
)
