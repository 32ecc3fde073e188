-- The slots of these jobs.
SELECT limit_key, job FROM procession_slot WHERE job IN (:a) ORDER BY limit_key, job
