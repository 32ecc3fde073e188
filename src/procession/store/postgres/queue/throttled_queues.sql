-- Which of these queues have limited jobs that are due and in line.
select q.value
from json_array_elements_text($1::json) as q (value)
where (select min(j.run_at)
       from procession.job j
       where j.queue = q.value and j.state = 4 and j.waits_for is null
         and j.type <> all(array(select name from procession.pause where kind = 1)))
      <= timestamptz 'epoch' + $2::bigint * interval '1 millisecond'
  and not exists (select from procession.pause p where p.kind = 0 and p.name = q.value)
order by q.value
