-- What was counted from an instant until another one.
select at, measure, times, last_at, tenant, name, worker, detail
from procession.meter
where at >= $2::bigint and at < $3::bigint
  and measure = any(array(select value::smallint from json_array_elements_text($1::json)))
order by at, id
limit $4::bigint
