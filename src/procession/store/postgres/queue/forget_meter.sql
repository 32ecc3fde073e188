-- Counts that are older than they are kept.
delete from procession.meter
where (at, id) in (
    select at, id from procession.meter
    where at < $2::bigint and measure = any(array(select value::smallint from json_array_elements_text($1::json)))
    order by at, id
    limit $3::bigint
    for update skip locked
)
