-- The attempts of a job that failed, in order.
select job, lease, attempt, at, worker, type, message
from procession.job_attempt
where job = ($1::json ->> 0)::bigint
order by lease
