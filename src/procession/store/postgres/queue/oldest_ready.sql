-- Since when the oldest job of each queue that could be claimed waits.
select q.value,
       (extract(epoch from least(
           (select min(j.run_at) from procession.job j where j.state = 0 and j.queue = q.value),
           (select min(j.run_at) from procession.job j
            where j.queue = q.value and j.state = 4 and j.waits_for is null
              and j.run_at <= timestamptz 'epoch' + $2::bigint * interval '1 millisecond')
       )) * 1000)::bigint
from json_array_elements_text($1::json) as q (value)
