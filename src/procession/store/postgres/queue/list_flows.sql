-- A page of flows that have a title, newest first.
select key, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow
from procession.job_batch
where is_flow = 1
  and (($1::json -> 0 ->> 'tenant') = '' or tenant = ($1::json -> 0 ->> 'tenant'))
  and (($1::json -> 0 ->> 'after')::bigint = 0 or key < ($1::json -> 0 ->> 'after')::bigint)
order by key desc
limit ($1::json -> 0 ->> 'limit')::int
