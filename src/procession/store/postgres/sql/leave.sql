-- A process stops: its jobs become ready as before their claims, its leadership ends.
with gone as (
    delete from procession.node where node = $1
), unled as (
    update procession.lease set until = coalesce($2::timestamptz, now()) where node = $1
), picked as materialized (
    select key from procession.job where state = 1 and owner = $1 and traits is null order by key for no key update
)
update procession.job
set state = 0, owner = null, attempt = attempt - 1
where key = any(array(select key from picked))
