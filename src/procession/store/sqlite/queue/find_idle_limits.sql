-- Limits with free slots and jobs that wait for one, but nobody who tries: how many should.
SELECT l.key, CASE WHEN l.most > 0 THEN min(l.most - l.used, l.parked) ELSE l.parked END
FROM (
    SELECT
        l.key, l.most, (SELECT count(*) FROM procession_slot AS s WHERE s.limit_key = l.key) AS used,
        (
            SELECT count(*) FROM procession_job AS j
            WHERE j.waits_for = l.key AND j.state = 4 AND j.waits_for IS NOT NULL
        ) AS parked
    FROM procession_limit AS l
) AS l
WHERE l.parked > 0 AND (l.most = 0 OR l.used < l.most)
    AND NOT EXISTS (
        SELECT 1
        FROM procession_job AS j, json_each(j.options, '$.limits') AS x
        WHERE j.state = 4 AND j.waits_for IS NULL AND x.value ->> 'key' = l.key
    )
ORDER BY l.key
LIMIT json_extract(?1, '$[0]')
