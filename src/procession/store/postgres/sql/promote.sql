-- Make due jobs ready, and say when the next one is due. Both parts see the same snapshot, so the second leaves out
-- what the first takes; what others hold is theirs.
with picked as materialized (
    select key
    from procession.job
    where state = 2 and run_at <= coalesce($2::timestamptz, now())
    order by run_at
    limit $1
    for no key update skip locked
), promoted as (
    update procession.job set state = 0, owner = null where key = any(array(select key from picked)) returning queue
)
select array(select distinct queue from promoted order by queue) as queues,
       (select run_at
        from procession.job
        where state = 2 and not key = any(array(select key from picked))
        order by run_at
        limit 1) as next_due
