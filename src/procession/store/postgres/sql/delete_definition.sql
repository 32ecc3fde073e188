-- A version that no instance is of, with its start events; its file if nothing else is of it.
with d as (
    delete from procession.definition d
    where d.key = $1::bigint
      and not exists (select from procession.instance i where i.process_id = d.process_id and i.definition = $1)
    returning d.key, d.resource
), m as (
    delete from procession.deployment_definition where definition in (select key from d)
), s as (
    delete from procession.subscription where instance is null and definition in (select key from d)
), t as (
    delete from procession.job where kind = 3 and instance is null and definition in (select key from d)
), r as (
    delete from procession.resource r
    using d
    where r.key = d.resource
      and not exists (select from procession.definition o where o.resource = d.resource and o.key <> d.key)
      and not exists (select from procession.decision o where o.resource = d.resource)
)
select key from d
