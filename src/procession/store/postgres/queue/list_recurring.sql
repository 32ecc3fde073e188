-- A page of recurring jobs.
select tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
from procession.recurring
where (($1::json -> 0 ->> 'name') = '' or name = ($1::json -> 0 ->> 'name'))
  and (($1::json -> 0 ->> 'group') is null or sync_group = ($1::json -> 0 ->> 'group'))
  and (($1::json -> 0 ->> 'tenant') = '' or tenant = ($1::json -> 0 ->> 'tenant'))
  and name > ($1::json -> 0 ->> 'after') collate "C"
order by name, tenant
limit ($1::json -> 0 ->> 'limit')::int
