-- Recurring jobs that are due, the longest due first.
select tenant, name, next_at, last_at, last_job, fired, version, missed, overlap, paused, cycle, sync_group, job, created_at,
       firings
from procession.recurring
where not paused and next_at > 0 and next_at <= $2::bigint
order by next_at, tenant, name
limit ($1::json ->> 0)::bigint
