-- How many instances a search has looked at, and the last of them.
select count(*), coalesce(min(key), 0)
from (
    select key
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
