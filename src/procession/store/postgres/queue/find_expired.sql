-- Jobs that wait beyond their deadline.
select key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, coalesce(owner, 0), created_at,
       coalesce(instance, 0), coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), coalesce(tenant, ''),
       coalesce(error, ''), coalesce(waits_for, ''), cancel_reason, options
from procession.job
where deadline_at is not null and state in (0, 2, 3, 4) and deadline_at <= $2::bigint
order by deadline_at, key
limit ($1::json ->> 0)::bigint
