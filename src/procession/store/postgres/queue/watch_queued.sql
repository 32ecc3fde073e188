-- How many of the newest jobs there are per queue and state, and how many were looked at.
select queue, state, count(*) filter (where (($1::json -> 0 ->> 'any_tenant')::boolean
       or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))),
       count(*)
from (
    select queue, state, tenant
    from procession.job
    order by key desc
    limit ($1::json -> 0 ->> 'look')::bigint
) j
group by queue, state
