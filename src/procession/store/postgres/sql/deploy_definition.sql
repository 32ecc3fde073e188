-- A new version. Those before it lose their start events and start timers, running ones included.
with old as materialized (
    select key from procession.definition where tenant = $2 and process_id = $3
), gone as (
    delete from procession.subscription where instance is null and tenant = $2 and process_id = $3
), stopped as (
    delete from procession.job where kind = 3 and instance is null and definition = any(array(select key from old))
)
insert into procession.definition (key, tenant, process_id, version, name, version_tag, resource, deployment, elements,
                                   methods)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
