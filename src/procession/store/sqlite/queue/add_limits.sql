-- Limits that a job names for the first time.
INSERT INTO procession_limit (key, most, rate, per_ms, burst, reserved_us, started_us, moved_us, late_us)
SELECT value ->> 'key', value ->> 'most', value ->> 'rate', value ->> 'per_ms', value ->> 'burst', 0, 0, 0, 0
FROM json_each(?1)
WHERE true
ON CONFLICT (key) DO NOTHING
