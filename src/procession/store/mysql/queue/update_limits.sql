-- Limits that are held, as they are now.
UPDATE procession_limit
SET
    most = :most, rate = :rate, per_ms = :per_ms, burst = :burst, reserved_us = :reserved_us, started_us = :started_us,
    moved_us = :moved_us, late_us = :late_us
WHERE `key` = :key
