-- Limits as they are seen; in key order.
select key, most, rate, per_ms, burst, reserved_us, started_us, moved_us, late_us
from procession.limits
where key = any(array(select value from json_array_elements_text($1::json)))
order by key
