-- A page of batches of jobs, newest first.
select key, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow
from procession.job_batch
where ((json_array_length($1::json -> 0 -> 'keys') = 0 and is_flow = 0)
       or key in (select value::bigint from json_array_elements_text($1::json -> 0 -> 'keys')))
  and (($1::json -> 0 ->> 'tenant') = '' or tenant = ($1::json -> 0 ->> 'tenant'))
  and (($1::json -> 0 ->> 'after')::bigint = 0 or key < ($1::json -> 0 ->> 'after')::bigint)
order by key desc
limit ($1::json -> 0 ->> 'limit')::int
