UPDATE procession_job
SET
    state = CASE `key` /* cases */ WHEN ?1 THEN ?2 /* cases */ END,
    owner = CASE `key` /* cases */ WHEN ?1 THEN ?3 /* cases */ END,
    retries = CASE `key` /* cases */ WHEN ?1 THEN ?4 /* cases */ END,
    crashes = CASE `key` /* cases */ WHEN ?1 THEN ?5 /* cases */ END,
    error = CASE `key` /* cases */ WHEN ?1 THEN ?6 /* cases */ END,
    due_at = CASE `key` /* cases */ WHEN ?1 THEN ?7 /* cases */ END
WHERE `key` IN (/* rows */ ?1 /* rows */)
