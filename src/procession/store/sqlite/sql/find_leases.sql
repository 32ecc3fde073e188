-- Jobs with traits are ended the long way, by settle in _shared/queue.
SELECT json_group_array(json_array(key, lease))
FROM procession_job
WHERE key IN (SELECT value FROM json_each(:keys)) AND (state = 1 OR (state = 2 AND owner = -1))
    AND traits IS NULL
