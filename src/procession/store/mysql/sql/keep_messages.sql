UPDATE procession_message
SET process_ids = CASE `key` /* cases */ WHEN ?1 THEN ?2 /* cases */ END
WHERE `key` IN (/* rows */ ?1 /* rows */)
