-- Jobs of items that failed for good become errors.
with gone as (
    delete from procession.job where key = any($2::bigint[]) and state = 5 returning instance, error
)
insert into procession.batch_error (batch, item, message)
select $1::bigint, instance, coalesce(error, '') from gone
on conflict do nothing
