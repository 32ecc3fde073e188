-- Slots of jobs that do not run.
select s.limit_key, s.job
from procession.slot s
left join procession.job j on j.key = s.job
where j.state is distinct from 1
order by s.limit_key, s.job
limit ($1::json ->> 0)::bigint
