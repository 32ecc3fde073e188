-- Lease ready jobs of several queues at once. `state = 0` is literal, so that the partial index job_ready gives them in
-- claim order (priority, then age); only then are they updated by key. What is paused is left out, and so are strangers:
-- types that the process has no handler for. A row without a key says that a queue has limited jobs whose start is due:
-- those are claimed the long way (claim_limited) and before the others, which the queue gives only where `heedless` says
-- so.
with asked as materialized (
    select u.queue, u.count, u.heedless,
           array(select name from procession.pause where kind = 1)
           || case when u.strangers is null then '{}'::text[]
                   else array(select json_array_elements_text(u.strangers)) end as passed_over
    from unnest($1::text[], $2::int[], $5::bool[], $6::json[]) as u (queue, count, heedless, strangers)
    where not exists (select from procession.pause p where p.kind = 0 and p.name = u.queue)
), w as materialized (
    select w.queue, w.passed_over, w.is_throttled,
           case when w.is_throttled and not w.heedless then 0 else w.count end as count
    from (
        -- The first of the queue, not whether there is one that is due: that would be looked for among those of all queues.
        select a.*,
               coalesce((select min(j.run_at)
                         from procession.job j
                         where j.queue = a.queue and j.state = 4 and j.waits_for is null
                           and j.type <> all(a.passed_over))
                        <= coalesce($4::timestamptz, now()), false) as is_throttled
        from asked a
    ) w
), picked as materialized (
    select p.key
    from w
    cross join lateral (
        select key
        from procession.job
        where state = 0 and queue = w.queue
          and type <> all(w.passed_over)
        order by priority desc, run_at, key
        limit w.count
        for no key update skip locked
    ) p
), claimed as (
    update procession.job
    set state = 1, owner = $3, lease = lease + 1, attempt = attempt + 1
    where key = any(array(select key from picked))
    returning key, lease, kind, queue, type, instance, element_instance, element, definition, priority, attempt, retries,
              args, tenant, run_at, options, checkpoint, crashes
)
select * from claimed
union all
select null, 0, 0, w.queue, '', null, null, null, null, 0, 0, 0, null, null, null, null, null, 0
from w
where w.is_throttled
