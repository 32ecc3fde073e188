-- A page of limits.
select key
from procession.limits
where ($1::json -> 0 ->> 'key' = '' or key = $1::json -> 0 ->> 'key') and key > ($1::json -> 0 ->> 'after') collate "C"
order by key
limit ($1::json -> 0 ->> 'limit')::int
