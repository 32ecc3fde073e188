-- Recurring jobs that are held are paused or go on.
update procession.recurring r
set paused = u.paused <> 0, next_at = u.next_at, version = r.version + 1
from json_to_recordset($1::json) as u (tenant text, name text, paused int, next_at bigint)
where r.tenant = u.tenant and r.name = u.name
