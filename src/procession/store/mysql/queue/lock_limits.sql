-- Limits, held until the end of the transaction; in key order.
SELECT `key`, most, rate, per_ms, burst, reserved_us, started_us, moved_us, late_us
FROM procession_limit
WHERE `key` IN (:a)
ORDER BY `key`
FOR UPDATE
