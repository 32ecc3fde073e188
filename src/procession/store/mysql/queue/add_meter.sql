-- Add to what was counted by time.
INSERT INTO procession_meter (at, id, measure, times, last_at, tenant, name, worker, detail)
VALUES /* rows */ (?at, ?id, ?measure, ?times, ?last_at, ?tenant, ?name, ?worker, ?detail) /* rows */
ON DUPLICATE KEY UPDATE times = times + VALUES(times), last_at = GREATEST(last_at, VALUES(last_at))
