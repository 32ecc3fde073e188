-- Limited jobs of a queue and priority that are due and in line.
select key, kind, state, queue, type, priority, run_at, attempt, retries, crashes, lease, coalesce(owner, 0), created_at,
       coalesce(instance, 0), coalesce(traits, 0), coalesce(batch, 0), coalesce(deadline_at, 0), coalesce(tenant, ''),
       coalesce(error, ''), coalesce(waits_for, ''), cancel_reason, options
from procession.job
where queue = $1::json -> 0 ->> 'queue' and priority = $2::int and state = 4 and waits_for is null
  and run_at <= timestamptz 'epoch' + $4::bigint * interval '1 millisecond'
  and type <> all(array(
        select name from procession.pause where kind = 1
        union all
        select json_array_elements_text($1::json -> 0 -> 'strangers')))
order by priority desc, run_at, key
limit $3::int
