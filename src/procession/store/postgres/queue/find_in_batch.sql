-- The keys of members of a batch: at most so many.
select key
from procession.job
where batch = ($1::json -> 0 ->> 'batch')::bigint
order by key
limit ($1::json -> 0 ->> 'most')::int
