-- Recurring jobs, held until the end of the transaction.
select tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
from procession.recurring
where (tenant, name) in (select u.tenant, u.name from json_to_recordset($1::json) as u (tenant text, name text))
order by tenant, name
for no key update
