-- How many slots of limits that are held are taken, and whether jobs wait for one.
SELECT
    k.value,
    (SELECT count(*) FROM procession_slot WHERE limit_key = k.value),
    EXISTS (SELECT 1 FROM procession_job WHERE waits_for = k.value AND state = 4 AND waits_for IS NOT NULL)
FROM json_each(?1) AS k
