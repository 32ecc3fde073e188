-- Open incidents by fingerprint, the most frequent first.
select fingerprint, count(*), min(created_at), max(created_at), max(key)
from (
    select fingerprint, created_at, key
    from procession.incident
    where (($1::json -> 0 ->> 'any_tenant')::boolean
           or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
    order by key desc
    limit ($1::json -> 0 ->> 'look')::bigint
) i
group by fingerprint
order by count(*) desc, max(key) desc
limit ($1::json -> 0 ->> 'limit')::bigint
