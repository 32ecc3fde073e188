-- Make due jobs ready, and say when the next one is due, or a limited one may start. One with limits is THROTTLED (4); one
-- that ages gives its priority for a place in line (jobs.options.due_of). All parts see the same snapshot, so the later
-- ones leave out what the first takes; what others hold is theirs. Queues with limited jobs are found by going from one to
-- the next in the index (a loose scan): there may be ten thousand jobs in each.
with recursive picked as materialized (
    select key
    from procession.job
    where state = 2 and run_at <= coalesce($2::timestamptz, now())
    order by run_at
    limit $1
    for no key update skip locked
), promoted as (
    update procession.job
    set state = case when traits & 4 <> 0 then 4 else 0 end, owner = null,
        priority = case when traits & 68 = 64 then 0 else priority end,
        run_at = case when traits & 68 = 64
                 then run_at - coalesce((options ->> 'priority')::bigint, 0) * (options ->> 'ageing_ms')::bigint
                               * interval '1 millisecond'
                 else run_at end
    where key = any(array(select key from picked))
    returning queue
), line (queue) as (
    (select queue from procession.job where state = 4 and waits_for is null order by queue limit 1)
    union all
    select (select j.queue
            from procession.job j
            where j.state = 4 and j.waits_for is null and j.queue > line.queue
            order by j.queue
            limit 1)
    from line
    where line.queue is not null
), limited as materialized (
    select line.queue,
           (select min(j.run_at)
            from procession.job j
            where j.queue = line.queue and j.state = 4 and j.waits_for is null) as first_at,
           (select min(j.run_at)
            from procession.job j
            where j.queue = line.queue and j.state = 4 and j.waits_for is null
              and j.run_at > coalesce($2, now())) as next_at
    from line
    where line.queue is not null
)
select array(select queue from promoted
             union
             select queue from limited where first_at <= coalesce($2, now())
             order by queue) as queues,
       least((select run_at
              from procession.job
              where state = 2 and not key = any(array(select key from picked))
              order by run_at
              limit 1),
             (select min(next_at) from limited)) as next_due
