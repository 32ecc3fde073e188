-- Dependencies of jobs that are not in the queue.
select distinct d.child
from procession.dependency d
where not exists (select from procession.job j where j.key = d.child)
order by d.child
limit ($1::json ->> 0)::bigint
