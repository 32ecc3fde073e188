-- Recurring jobs that are held, after a firing.
update procession.recurring r
set next_at = u.next_at, last_at = u.last_at, last_job = u.last_job, fired = u.fired, version = r.version + 1,
    firings = u.firings::json
from json_to_recordset($1::json) as u (tenant text, name text, next_at bigint, last_at bigint, last_job bigint, fired bigint, firings text)
where r.tenant = u.tenant and r.name = u.name
