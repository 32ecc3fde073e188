-- How many jobs wait for a slot or a start of these limits.
SELECT l.value ->> 'key', count(*)
FROM procession_job AS j, json_each(j.options, '$.limits') AS l
WHERE j.state = 4 AND l.value ->> 'key' IN (SELECT value FROM json_each(?1))
GROUP BY 1
