-- How much there is, each counted up to a bound; the oldest among the ready jobs that were counted.
select
(select count(*) from (
    select 1 from procession.job
    where state = 0 and (($1::json -> 0 ->> 'any_tenant')::boolean
          or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
    limit ($1::json -> 0 ->> 'most')::bigint
) x),
(select count(*) from (
    select 1 from procession.job
    where state = 1 and (($1::json -> 0 ->> 'any_tenant')::boolean
          or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
    limit ($1::json -> 0 ->> 'most')::bigint
) x),
(select count(*) from (
    select 1 from procession.job
    where state = 2 and (($1::json -> 0 ->> 'any_tenant')::boolean
          or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
    limit ($1::json -> 0 ->> 'most')::bigint
) x),
(select count(*) from (
    select 1 from procession.incident
    where (($1::json -> 0 ->> 'any_tenant')::boolean
          or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
    limit ($1::json -> 0 ->> 'most')::bigint
) x),
(select count(*) from (
    select 1 from procession.user_task
    where (($1::json -> 0 ->> 'any_tenant')::boolean
          or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
    limit ($1::json -> 0 ->> 'most')::bigint
) x),
(select min(run_at) from (
    select run_at from procession.job
    where state = 0 and (($1::json -> 0 ->> 'any_tenant')::boolean
          or coalesce(tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
    limit ($1::json -> 0 ->> 'most')::bigint
) x)
