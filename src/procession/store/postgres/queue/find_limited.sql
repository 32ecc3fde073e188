-- Limited jobs that wait, in claim order: a rule has changed.
select key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, coalesce(owner, 0), created_at,
       coalesce(instance, 0), coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), coalesce(tenant, ''),
       coalesce(error, ''), coalesce(waits_for, ''), cancel_reason, options
from procession.job
where state = 4
order by priority desc, run_at, key
limit ($1::json ->> 0)::bigint
for no key update skip locked
