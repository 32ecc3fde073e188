-- Unique keys whose holders are final or gone.
select k.tenant, k.key
from procession.unique_key k
left join procession.job j on j.key = k.job
where k.until is null and (j.key is null or j.state = 5)
order by k.tenant, k.key
limit ($1::json ->> 0)::bigint
