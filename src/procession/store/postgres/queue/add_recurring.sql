-- New recurring jobs.
insert into procession.recurring (tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused,
                                  created_at, cycle, sync_group, job)
select u.tenant, u.name, u.next_at, 0, 0, 0, 1, u.missed, u.overlap <> 0, false, u.created_at, u.cycle, u.sync_group,
       u.job::json
from json_to_recordset($1::json)
     as u (tenant text, name text, next_at bigint, missed smallint, overlap int, created_at bigint, cycle text,
           sync_group text, job text)
