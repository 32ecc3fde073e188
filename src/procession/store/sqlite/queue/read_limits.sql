-- Limits as they are seen; in key order.
SELECT key, most, rate, per_ms, burst, reserved_us, started_us, moved_us, late_us
FROM procession_limit
WHERE key IN (SELECT value FROM json_each(?1))
ORDER BY key
