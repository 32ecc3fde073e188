-- Since when the oldest job of each queue that could be claimed waits: the first of each of its priorities is looked at,
-- a thousand of them at most.
select q.value,
       (extract(epoch from least(
           (with recursive p as (
                (select j.priority, j.run_at from procession.job j
                 where j.state = 0 and j.queue = q.value order by j.priority desc, j.run_at, j.key limit 1)
                union all
                select n.priority, n.run_at
                from p
                cross join lateral (
                    select j.priority, j.run_at from procession.job j
                    where j.state = 0 and j.queue = q.value and j.priority < p.priority
                    order by j.priority desc, j.run_at, j.key limit 1
                ) n
            )
            select min(f.run_at) from (select p.run_at from p limit 1000) f),
           (select j.run_at from procession.job j
            where j.queue = q.value and j.state = 4 and j.waits_for is null
              and j.run_at <= timestamptz 'epoch' + $2::bigint * interval '1 millisecond'
            order by j.queue, j.run_at, j.key limit 1)
       )) * 1000)::bigint
from json_array_elements_text($1::json) as q (value)
