-- Versions deleted long ago that no instance is of; their files if nothing else is of them.
with d as (
    delete from procession.definition d
    where d.deleted_at <= to_timestamp($1::bigint / 1000.0)
      and not exists (select from procession.instance i where i.process_id = d.process_id and i.definition = d.key)
    returning d.key, d.resource
), r as (
    delete from procession.resource r
    using d
    where r.key = d.resource
      and not exists (select from procession.definition o where o.resource = d.resource
                      and o.key not in (select key from d))
      and not exists (select from procession.decision o where o.resource = d.resource)
)
select count(*) from d
