-- Recurring jobs that are held, as they were declared.
update procession.recurring r
set next_at = u.next_at, missed = u.missed, overlap = u.overlap <> 0, cycle = u.cycle, sync_group = u.sync_group,
    job = u.job::json, version = r.version + 1
from json_to_recordset($1::json)
     as u (tenant text, name text, next_at bigint, missed smallint, overlap int, cycle text, sync_group text, job text)
where r.tenant = u.tenant and r.name = u.name
