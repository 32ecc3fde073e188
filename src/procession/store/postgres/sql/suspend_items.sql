-- Those that wait, now or for a next try; what somebody claims just now has begun.
with picked as materialized (
    select key from procession.job
    where key = any($1::bigint[]) and state in (0, 2)
    order by key
    for no key update skip locked
)
update procession.job set state = 6 where key = any(array(select key from picked)) returning key
