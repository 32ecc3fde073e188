-- A page of limits.
SELECT key
FROM procession_limit
WHERE (json_extract(?1, '$[0].key') = '' OR key = json_extract(?1, '$[0].key')) AND key > json_extract(?1, '$[0].after')
ORDER BY key
LIMIT json_extract(?1, '$[0].limit')
