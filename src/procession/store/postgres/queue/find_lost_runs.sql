-- Running jobs with traits whose process is gone.
select key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, coalesce(owner, 0), created_at,
       coalesce(instance, 0), coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), coalesce(tenant, ''),
       coalesce(error, ''), coalesce(waits_for, ''), cancel_reason, options
from procession.job
where state = 1 and traits is not null and owner not in (select node from procession.node)
order by key
limit ($1::json ->> 0)::bigint
