-- Limits that are held, as they are now.
with u as materialized (
    select *
    from json_to_recordset($1::json) as u (key text, most int, rate int, per_ms bigint, burst int, reserved_us bigint, started_us bigint, moved_us bigint, late_us bigint)
)
update procession.limits
set most = u.most, rate = u.rate, per_ms = u.per_ms, burst = u.burst, reserved_us = u.reserved_us,
    started_us = u.started_us, moved_us = u.moved_us, late_us = u.late_us
from u
where limits.key = any(array(select u.key from u)) and limits.key = u.key
