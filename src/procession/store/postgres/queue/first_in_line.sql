-- The place of the first ready job of a queue and priority.
select run_at
from procession.job
where state = 0 and queue = $1::json ->> 0 and priority = $2::int
order by run_at
limit 1
