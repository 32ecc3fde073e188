-- Give back the jobs of dead and of unknown nodes; those with traits go the long way (find_lost_runs). What others hold right now is ending or being rescued: skipped.
with dead as (
    delete from procession.node
    where beat_at <= coalesce($5::timestamptz, now()) - $1::bigint * interval '1 millisecond'
    returning node
), living as materialized (
    select node
    from procession.node
    where beat_at > coalesce($5, now()) - $1::bigint * interval '1 millisecond'
), picked as materialized (
    select key, owner
    from procession.job
    where state = 1 and traits is null and owner not in (select node from living)
    order by owner
    limit $2
    for no key update skip locked
), rescued as (
    update procession.job
    set crashes = crashes + 1, owner = null,
        error = case when crashes + 1 > $3::int
                then format('The process that ran this job died, %s times in a row', crashes + 1)
                else error end,
        state = case when crashes + 1 > $3::int then 5 when crashes > 0 and $4::bigint > 0 then 2 else 0 end,
        ended_at = case when crashes + 1 > $3::int then (extract(epoch from coalesce($5, now())) * 1000)::bigint end,
        run_at = case when crashes > 0 and crashes + 1 <= $3
                 then coalesce($5, now()) + $4::bigint * interval '1 millisecond' else run_at end
    where key = any(array(select key from picked))
    returning key, queue, state
)
select array(select node from dead order by node) as nodes,
       (select count(*) from rescued) as jobs,
       array(select distinct queue from rescued where state = 0 order by queue) as woken,
       array(select key from rescued where state = 5 order by key) as failed
