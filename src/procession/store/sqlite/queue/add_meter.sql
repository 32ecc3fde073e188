-- Add to what was counted by time.
INSERT INTO procession_meter (at, id, measure, times, last_at, tenant, name, worker, detail)
SELECT
    value ->> 'at', value ->> 'id', value ->> 'measure', value ->> 'times', value ->> 'last_at', value ->> 'tenant',
    value ->> 'name', value ->> 'worker', value ->> 'detail'
FROM json_each(?1)
WHERE true
ON CONFLICT (at, id) DO UPDATE SET times = times + excluded.times, last_at = max(last_at, excluded.last_at)
