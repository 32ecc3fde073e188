-- The last attempts that failed of all jobs of an instance.
select job, lease, attempt, at, worker, type, message
from procession.job_attempt
where instance = ($1::json -> 0 ->> 'instance')::bigint and instance <> 0
order by at desc, job desc, lease desc
limit ($1::json -> 0 ->> 'limit')::bigint
