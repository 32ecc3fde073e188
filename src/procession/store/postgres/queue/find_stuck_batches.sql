-- Sealed batches of jobs whose members are all final.
select key
from procession.job_batch
where state = 1 and total = succeeded + failed + deleted
order by key
limit ($1::json ->> 0)::bigint
