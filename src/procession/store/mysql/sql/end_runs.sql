-- Each value is an expression of the row's columns; those that read a column stand before those that set it.
UPDATE procession_job
SET
    run_at = CASE `key` /* cases */ WHEN ?1 THEN ?2 /* cases */ END,
    due_at = CASE `key` /* cases */ WHEN ?1 THEN ?3 /* cases */ END,
    state = CASE `key` /* cases */ WHEN ?1 THEN ?4 /* cases */ END,
    attempt = CASE `key` /* cases */ WHEN ?1 THEN ?5 /* cases */ END,
    retries = CASE `key` /* cases */ WHEN ?1 THEN ?6 /* cases */ END,
    crashes = CASE `key` /* cases */ WHEN ?1 THEN ?7 /* cases */ END,
    error = CASE `key` /* cases */ WHEN ?1 THEN ?8 /* cases */ END,
    ended_at = CASE `key` /* cases */ WHEN ?1 THEN ?9 /* cases */ END,
    owner = 0
WHERE `key` IN (/* rows */ ?1 /* rows */) AND @now IS NOT NULL
