-- Limits that a job names for the first time.
insert into procession.limits (key, most, rate, per_ms, burst, reserved_us, started_us, moved_us, late_us)
select u.key, u.most, u.rate, u.per_ms, u.burst, 0, 0, 0, 0
from json_to_recordset($1::json) as u (key text, most int, rate int, per_ms bigint, burst int)
order by u.key collate "C"
on conflict (key) do nothing
