-- What was counted from an instant until another one.
SELECT at, measure, times, last_at, tenant, name, worker, detail
FROM procession_meter
WHERE at >= :b AND at < :c AND measure IN (:a)
ORDER BY at, id
LIMIT :d
