-- The oldest buffered messages for the start events of each process id whose channel is free now, with the start event.
select r.instance, s.key as subscription, s.element, s.definition, s.process_id, m.key, m.name, m.correlation_key,
       m.variables, m.expires_at, m.tenant, m.process_id as only, m.process_ids,
       array(select distinct o.process_id
             from procession.subscription o
             where o.tenant = m.tenant and o.name = m.name and o.trigger = 1 and o.instance is null) as starts
from unnest($1::bigint[], $2::text[]) as r (instance, correlation_key)
join procession.instance i on i.key = r.instance and i.key = any($1)
join procession.subscription s
  on s.tenant = coalesce(i.tenant, '') and s.process_id = i.process_id and s.instance is null and s.trigger = 1
cross join lateral (
    select *
    from procession.message
    where tenant = s.tenant and name = s.name and correlation_key = r.correlation_key
      and expires_at > coalesce($4::timestamptz, now())
      and not s.process_id = any(process_ids) and process_id in ('', s.process_id)
    order by published_at, key
    limit $3
) m
where not exists (
    select from procession.start_channel h
    where h.tenant = s.tenant and h.process_id = s.process_id and h.correlation_key = r.correlation_key)
order by m.published_at, m.key
