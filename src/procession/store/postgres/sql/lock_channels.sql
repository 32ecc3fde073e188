-- Serialise everything on these message channels until the transaction ends, in one order for all.
select pg_advisory_xact_lock(l.channel)
from (
    select distinct hashtextextended(concat_ws(E'\x1f', c.tenant, c.name, c.correlation_key), 0) as channel
    from unnest($1::text[], $2::text[], $3::text[]) as c (tenant, name, correlation_key)
    order by channel
) l
