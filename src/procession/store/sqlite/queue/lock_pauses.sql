-- Which of these are paused.
SELECT kind, name
FROM procession_pause
WHERE (kind, name) IN (SELECT value ->> 'kind', value ->> 'name' FROM json_each(?1))
