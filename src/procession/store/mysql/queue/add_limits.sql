-- Limits that a job names for the first time.
INSERT INTO procession_limit (`key`, most, rate, per_ms, burst, reserved_us, started_us, moved_us, late_us)
VALUES /* rows */ (?key, ?most, ?rate, ?per_ms, ?burst, 0, 0, 0, 0) /* rows */
ON DUPLICATE KEY UPDATE `key` = VALUES(`key`)
