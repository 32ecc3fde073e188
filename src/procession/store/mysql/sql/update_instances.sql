-- What every step changes; variables that did not change are the column itself. No column of an index is named.
UPDATE procession_instance
SET
    rev = rev + 1,
    variables = CASE `key` /* cases */ WHEN ?1 THEN ?2 /* cases */ END,
    state = CASE `key` /* cases */ WHEN ?1 THEN ?3 /* cases */ END
WHERE `key` IN (/* rows */ ?1 /* rows */)
