-- In which priorities these queues have limited jobs that are due and in line, from the highest down. One look into the
-- index job_in_line per priority, however many jobs there are.
with recursive level as (
  select q.value as queue,
         (select j.priority
          from procession.job j
          where j.queue = q.value and j.state = 4 and j.waits_for is null
          order by j.priority desc
          limit 1) as priority
  from json_array_elements_text($1::json) as q (value)
  where not exists (select from procession.pause p where p.kind = 0 and p.name = q.value)
  union all
  select l.queue,
         (select j.priority
          from procession.job j
          where j.queue = l.queue and j.state = 4 and j.waits_for is null and j.priority < l.priority
          order by j.priority desc
          limit 1)
  from level l
  where l.priority is not null
)
select l.queue, l.priority
from level l
where l.priority is not null
  and (select j.run_at
       from procession.job j
       where j.queue = l.queue and j.state = 4 and j.waits_for is null and j.priority = l.priority
         and j.type <> all(array(select name from procession.pause where kind = 1))
       order by j.priority desc, j.run_at
       limit 1) <= timestamptz 'epoch' + $2::bigint * interval '1 millisecond'
order by l.queue, l.priority desc
