-- A version that no instance is of, with its start events. Its row and file stay for those that remember it.
with d as (
    update procession.definition d
    set deleted_at = coalesce($2::timestamptz, now())
    where d.key = $1::bigint and d.deleted_at is null
      and not exists (select from procession.instance i where i.process_id = d.process_id and i.definition = $1)
    returning d.key
), m as (
    delete from procession.deployment_definition where definition in (select key from d)
), s as (
    delete from procession.subscription where instance is null and definition in (select key from d)
), t as (
    delete from procession.job where kind = 3 and instance is null and definition in (select key from d)
)
select key from d
