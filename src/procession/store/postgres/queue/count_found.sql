-- How many of the instances that a search looks at are meant, up to a bound.
select count(*)
from (
    select 1
    from (
    select *
    from procession.instance
    where key < ($1::json -> 0 ->> 'before')::bigint
      and (($1::json -> 0 ->> 'process_id') = '' or process_id = ($1::json -> 0 ->> 'process_id'))
      and (($1::json -> 0 ->> 'business_id') = '' or business_id = ($1::json -> 0 ->> 'business_id'))
      and (($1::json -> 0 ->> 'parent')::bigint = 0 or parent = ($1::json -> 0 ->> 'parent')::bigint)
      and (($1::json -> 0 ->> 'tag') = '' or tags @> array[($1::json -> 0 ->> 'tag')])
      and (not ($1::json -> 0 ->> 'by_incident')::boolean or key = any (array(
          select distinct c.instance from procession.incident c
          where c.instance < ($1::json -> 0 ->> 'before')::bigint
            and (($1::json -> 0 ->> 'incident_element') = '' or c.element = ($1::json -> 0 ->> 'incident_element'))
            and (($1::json -> 0 ->> 'fingerprint') = '' or c.fingerprint = ($1::json -> 0 ->> 'fingerprint'))
          order by c.instance desc
          limit ($1::json -> 0 ->> 'look')::bigint
      )))
    order by key desc
    limit ($1::json -> 0 ->> 'look')::bigint
    ) i
    where (($1::json -> 0 ->> 'definition')::bigint = 0 or i.definition = ($1::json -> 0 ->> 'definition')::bigint)
  and (($1::json -> 0 ->> 'any_status')::boolean or i.status in (select value::int from json_array_elements_text(($1::json -> 0 -> 'statuses'))))
  and (($1::json -> 0 ->> 'any_tenant')::boolean
       or coalesce(i.tenant, '') in (select value collate "C" from json_array_elements_text(($1::json -> 0 -> 'tenants'))))
  and (($1::json -> 0 ->> 'started_from')::bigint = 0 or i.started_at >= timestamptz 'epoch' + ($1::json -> 0 ->> 'started_from')::bigint * interval '1 millisecond')
  and (($1::json -> 0 ->> 'started_until')::bigint = 0 or i.started_at < timestamptz 'epoch' + ($1::json -> 0 ->> 'started_until')::bigint * interval '1 millisecond')
  and (($1::json -> 0 ->> 'ended_from')::bigint = 0 or i.ended_at >= timestamptz 'epoch' + ($1::json -> 0 ->> 'ended_from')::bigint * interval '1 millisecond')
  and (($1::json -> 0 ->> 'ended_until')::bigint = 0 or i.ended_at < timestamptz 'epoch' + ($1::json -> 0 ->> 'ended_until')::bigint * interval '1 millisecond')
  and (($1::json -> 0 ->> 'name_a') = '' or i.variables -> ($1::json -> 0 ->> 'name_a') = ($1::json -> 0 ->> 'value_a')::jsonb)
  and (($1::json -> 0 ->> 'name_b') = '' or i.variables -> ($1::json -> 0 ->> 'name_b') = ($1::json -> 0 ->> 'value_b')::jsonb)
  and (($1::json -> 0 ->> 'name_c') = '' or i.variables -> ($1::json -> 0 ->> 'name_c') = ($1::json -> 0 ->> 'value_c')::jsonb)
  and (($1::json -> 0 ->> 'pattern') = '' or i.business_id ilike ($1::json -> 0 ->> 'pattern') or i.variables::text ilike ($1::json -> 0 ->> 'pattern')
       or array_to_string(i.tags, ' ') ilike ($1::json -> 0 ->> 'pattern'))
    limit ($1::json -> 0 ->> 'limit')::bigint
) found
