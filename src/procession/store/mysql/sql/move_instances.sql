-- As update_instances, for steps that end an instance or give it another status or definition.
UPDATE procession_instance
SET
    rev = rev + 1,
    definition = CASE `key` /* cases */ WHEN ?1 THEN ?2 /* cases */ END,
    process_id = CASE `key` /* cases */ WHEN ?1 THEN ?3 /* cases */ END,
    status = CASE `key` /* cases */ WHEN ?1 THEN ?4 /* cases */ END,
    ended_at = CASE `key` /* cases */ WHEN ?1 THEN ?5 /* cases */ END,
    variables = CASE `key` /* cases */ WHEN ?1 THEN ?6 /* cases */ END,
    state = CASE `key` /* cases */ WHEN ?1 THEN ?7 /* cases */ END
WHERE `key` IN (/* rows */ ?1 /* rows */) AND @now IS NOT NULL
