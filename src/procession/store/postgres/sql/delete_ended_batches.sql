-- Batches that ended long ago, first their errors; not one whose failed items another does again just now.
with doomed as materialized (
    select b.key
    from procession.batch b
    where b.state in (1, 2) and b.ended_at <= to_timestamp($1::bigint / 1000.0)
      and not exists (select from procession.batch again where again.retry_of = b.key and again.state in (0, 3))
), picked as materialized (
    select e.batch, e.item
    from procession.batch_error e
    where e.batch in (select key from doomed)
    limit $2
), errors as (
    delete from procession.batch_error e using picked where e.batch = picked.batch and e.item = picked.item
    returning e.batch
), batches as (
    delete from procession.batch b
    where b.key in (
        select d.key from doomed d
        where not exists (
            select from procession.batch_error e
            where e.batch = d.key and not exists (
                select from picked where picked.batch = e.batch and picked.item = e.item))
        limit $2)
    returning b.key
)
select (select count(*) from errors) + (select count(*) from batches)
