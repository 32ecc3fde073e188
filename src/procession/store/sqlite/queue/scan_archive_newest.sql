-- The keys of the jobs of the archive that are meant, the newest first, among the next rows that are looked at. A negative key is
-- the last row that was looked at, where there may be more.
SELECT key FROM (
    SELECT key FROM (
        SELECT * FROM procession_job_archive WHERE key < coalesce(nullif(json_extract(?1, '$[0].after'), 0), 9223372036854775807) ORDER BY key DESC LIMIT json_extract(?1, '$[0].rows')
    )
    WHERE (json_extract(?1, '$[0].state') < 0 OR state = json_extract(?1, '$[0].state'))
        AND (json_extract(?1, '$[0].queue') = '' OR queue = json_extract(?1, '$[0].queue'))
        AND (json_extract(?1, '$[0].type') = '' OR type = json_extract(?1, '$[0].type'))
        AND (json_extract(?1, '$[0].tenant') = '' OR tenant = json_extract(?1, '$[0].tenant'))
        AND (json_extract(?1, '$[0].batch') = 0 OR batch = json_extract(?1, '$[0].batch'))
        AND (json_extract(?1, '$[0].owner') = 0 OR 0 = json_extract(?1, '$[0].owner'))
        AND (json_array_length(?1, '$[0].kinds') = 0 OR kind IN (SELECT value FROM json_each(?1, '$[0].kinds')))
        AND (
            json_extract(?1, '$[0].tag') = ''
            OR EXISTS (SELECT 1 FROM json_each(options, '$.tags') WHERE value = json_extract(?1, '$[0].tag'))
        )
        AND (
            json_extract(?1, '$[0].text') = ''
            OR coalesce(options ->> 'title', '') LIKE json_extract(?1, '$[0].text') ESCAPE '!'
            OR type LIKE json_extract(?1, '$[0].text') ESCAPE '!'
            OR error LIKE json_extract(?1, '$[0].text') ESCAPE '!'
            OR args LIKE json_extract(?1, '$[0].text') ESCAPE '!'
        )
    ORDER BY key DESC
    LIMIT json_extract(?1, '$[0].limit')
)
UNION ALL
SELECT -key FROM (
    SELECT key FROM procession_job_archive WHERE key < coalesce(nullif(json_extract(?1, '$[0].after'), 0), 9223372036854775807) ORDER BY key DESC LIMIT 1 OFFSET json_extract(?1, '$[0].rows') - 1
)
