-- What was counted from an instant until another one.
SELECT at, measure, times, last_at, tenant, name, worker, detail
FROM procession_meter
WHERE at >= ?2 AND at < ?3 AND measure IN (SELECT value FROM json_each(?1))
ORDER BY at, id
LIMIT ?4
