-- Unique keys that were held for a time, which is over.
delete from procession.unique_key
where ctid = any(array(
    select ctid
    from procession.unique_key
    where until is not null and until <= $2::bigint
    order by until
    limit ($1::json ->> 0)::bigint
    for update skip locked))
