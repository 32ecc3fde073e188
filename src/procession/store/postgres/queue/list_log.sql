-- The lines of a log, in order.
select job, number, at, level, text
from procession.job_log
where job = ($1::json ->> 0)::bigint and number > $2::int
order by number
limit $3::int
