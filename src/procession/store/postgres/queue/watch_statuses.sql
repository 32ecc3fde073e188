-- How many of the newest instances there are per status, and how many were looked at.
select status, count(*) filter (where (($1::json -> 0 ->> 'any_tenant')::boolean
       or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))),
       count(*)
from (
    select status, tenant
    from procession.instance
    order by key desc
    limit ($1::json -> 0 ->> 'look')::bigint
) i
group by status
