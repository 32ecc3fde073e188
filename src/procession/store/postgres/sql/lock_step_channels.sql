-- The channels of new message subscriptions, and those of the start events that ending instances held, in one order.
select pg_advisory_xact_lock(l.channel)
from (
    select distinct hashtextextended(concat_ws(E'\x1f', c.tenant, c.name, c.correlation_key), 0) as channel
    from (
        select tenant, name, correlation_key
        from unnest($1::text[], $2::text[], $3::text[]) as u (tenant, name, correlation_key)
        union all
        select s.tenant, s.name, r.correlation_key
        from unnest($4::bigint[], $5::text[]) as r (instance, correlation_key)
        join procession.instance i on i.key = r.instance and i.key = any($4)
        join procession.subscription s
          on s.tenant = coalesce(i.tenant, '') and s.process_id = i.process_id and s.instance is null and s.trigger = 1
    ) c
    order by channel
) l
