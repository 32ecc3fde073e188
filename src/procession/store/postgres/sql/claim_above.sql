-- As claim.sql, from a floor on: what was ready before it has been claimed. While a transaction elsewhere holds up vacuum,
-- the index still has an entry for each job that is done, and claim.sql walks over all of them each time. Higher priorities
-- than the floor's come first and are looked at whole; lower ones, and jobs that came back with an earlier time, are found
-- by the next claim without floors (_floors.py).
with asked as materialized (
    select u.queue, u.count, u.heedless, u.priority, u.floor_key,
           timestamptz 'epoch' + u.floor * interval '1 microsecond' as floor,
           array(select name from procession.pause where kind = 1)
           || case when u.strangers is null then '{}'::text[]
                   else array(select json_array_elements_text(u.strangers)) end as passed_over
    from unnest($1::text[], $2::int[], $5::bool[], $6::int[], $7::bigint[], $8::bigint[],
                $9::json[])
         as u (queue, count, heedless, priority, floor, floor_key, strangers)
    where not exists (select from procession.pause p where p.kind = 0 and p.name = u.queue)
), w as materialized (
    select w.queue, w.priority, w.floor_key, w.floor, w.passed_over, w.is_throttled,
           case when w.is_throttled and not w.heedless then 0 else w.count end as count
    from (
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
        select u.key
        from (select above.key
              from (select key
                    from procession.job
                    where state = 0 and queue = w.queue and priority > w.priority
                      and type <> all(w.passed_over)
                    order by priority desc, run_at, key
                    limit w.count
                    for no key update skip locked) above
              union all
              select level.key
              from (select key
                    from procession.job
                    where state = 0 and queue = w.queue and priority = w.priority
                      and (run_at, key) >= (w.floor, w.floor_key)
                      and type <> all(w.passed_over)
                    order by priority desc, run_at, key
                    limit w.count
                    for no key update skip locked) level) u
        limit w.count
    ) p
), claimed as (
    update procession.job
    set state = 1, owner = $3, lease = lease + 1, attempt = attempt + 1
    where key = any(array(select key from picked))
    returning key, lease, kind, queue, type, instance, element_instance, element, definition, priority, attempt, retries,
              args, tenant, run_at, options, checkpoint, crashes,
              (extract(epoch from run_at) * 1000000)::bigint as place
)
select * from claimed
union all
select null, 0, 0, w.queue, '', null, null, null, null, 0, 0, 0, null, null, null, null, null, 0, 0
from w
where w.is_throttled
