-- The oldest buffered messages for each (channel, process id), as many as there are new subscriptions; with the process
-- ids whose start events may still want them.
select c.process_id, m.key, m.name, m.correlation_key, m.variables, m.expires_at, m.tenant, m.process_id as only,
       m.process_ids,
       array(select distinct s.process_id
             from procession.subscription s
             where s.tenant = m.tenant and s.name = m.name and s.trigger = 1 and s.instance is null) as starts
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[])
     as c (tenant, name, correlation_key, process_id, count)
cross join lateral (
    select *
    from procession.message
    where tenant = c.tenant and name = c.name and correlation_key = c.correlation_key
      and expires_at > coalesce($6::timestamptz, now())
      and not c.process_id = any(process_ids) and process_id in ('', c.process_id)
    order by published_at, key
    limit c.count
) m
order by m.published_at, m.key
