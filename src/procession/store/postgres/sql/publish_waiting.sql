-- Per channel the oldest open subscriptions of each process id, as many as there are messages. The process ids of a
-- channel are found by skipping through the index, so that a thousand rivals of one process cost one step.
select s.key, s.instance, s.element_instance, s.element, s.definition, s.process_id, s.trigger, s.name,
       s.correlation_key, s.once, s.tenant
from unnest($1::text[], $2::text[], $3::text[], $4::int[]) as c (tenant, name, correlation_key, count)
cross join lateral (
    with recursive p as (
        (select process_id
         from procession.subscription
         where instance is not null and not taken and trigger = 1
           and tenant = c.tenant and name = c.name and correlation_key = c.correlation_key
         order by process_id
         limit 1)
        union all
        select (select n.process_id
                from procession.subscription n
                where n.instance is not null and not n.taken and n.trigger = 1
                  and n.tenant = c.tenant and n.name = c.name and n.correlation_key = c.correlation_key
                  and n.process_id > p.process_id
                order by n.process_id
                limit 1)
        from p
        where p.process_id is not null
    )
    select process_id from p where process_id is not null
) p
cross join lateral (
    select *
    from procession.subscription
    where instance is not null and not taken and trigger = 1
      and tenant = c.tenant and name = c.name and correlation_key = c.correlation_key and process_id = p.process_id
    order by key
    limit c.count
) s
order by s.key
