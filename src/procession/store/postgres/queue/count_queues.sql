-- How many jobs there are per queue and state, each up to a bound; of READY jobs by queue, of others for all queues together.
with recursive ready as (
    (select queue from procession.job where state = 0 order by queue limit 1)
    union all
    select (select j.queue from procession.job j where j.state = 0 and j.queue > ready.queue order by j.queue limit 1)
    from ready
    where ready.queue is not null
)
select queue, 0 as state,
       (select count(*)
        from (select from procession.job j where j.state = 0 and j.queue = ready.queue limit ($1::json ->> 0)::int) counted)
from ready
where queue is not null
union all
select queue, 1, count(*)
from (select queue from procession.job where state = 1 order by owner limit ($1::json ->> 0)::int) s1
group by queue
union all
select queue, 2, count(*)
from (select queue from procession.job where state = 2 order by run_at limit ($1::json ->> 0)::int) s2
group by queue
union all
select queue, 3, count(*)
from (select queue from procession.job where state = 3 order by key limit ($1::json ->> 0)::int) s3
group by queue
union all
select queue, 5, count(*)
from (select queue from procession.job where state = 5 order by key limit ($1::json ->> 0)::int) s5
group by queue
union all
select queue, 6, count(*)
from (select queue from procession.job where state = 6 order by key limit ($1::json ->> 0)::int) s6
group by queue
union all
select queue, 4, count(*)
from (
    (select queue from procession.job
     where state = 4 and waits_for is null order by queue, run_at, key limit ($1::json ->> 0)::int)
    union all
    (select queue from procession.job
     where state = 4 and waits_for is not null order by waits_for, priority desc, run_at, key
     limit ($1::json ->> 0)::int)
) throttled
group by queue
