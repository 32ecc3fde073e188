-- Message start events by name, and which of the given correlation keys their processes hold.
select s.key, s.element, s.definition, s.process_id, s.name, s.tenant,
       array(select h.correlation_key
             from procession.start_channel h
             where h.tenant = s.tenant and h.process_id = s.process_id and h.correlation_key = any($3::text[])) as held
from (select distinct tenant, name from unnest($1::text[], $2::text[]) as u (tenant, name)) c
join procession.subscription s
  on s.tenant = c.tenant and s.name = c.name and s.trigger = 1 and s.instance is null
order by s.process_id, s.key
