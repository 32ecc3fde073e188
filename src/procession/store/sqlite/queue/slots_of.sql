-- The slots of these jobs.
SELECT limit_key, job FROM procession_slot WHERE job IN (SELECT value FROM json_each(?1)) ORDER BY limit_key, job
