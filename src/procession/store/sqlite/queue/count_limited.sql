-- How many jobs wait for a slot of these limits, each up to a bound, and how many of the first that are in line for a start.
SELECT limit_key, sum(waiting)
FROM (
    SELECT
        k.value AS limit_key,
        (SELECT count(*) FROM (
            SELECT 1 FROM procession_job AS j
            WHERE j.state = 4 AND j.waits_for IS NOT NULL AND j.waits_for = k.value LIMIT ?2)) AS waiting
    FROM json_each(?1) AS k
    UNION ALL
    SELECT l.value ->> 'key', count(*)
    FROM (SELECT options FROM procession_job
          WHERE state = 4 AND waits_for IS NULL ORDER BY queue, run_at, key LIMIT ?2) AS j,
         json_each(j.options, '$.limits') AS l
    WHERE l.value ->> 'key' IN (SELECT value FROM json_each(?1))
    GROUP BY 1
)
GROUP BY limit_key
HAVING sum(waiting) > 0
