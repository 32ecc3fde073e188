-- Who comes after these: at most so many.
select child, parent, either, resolved
from procession.dependency
where parent = any(array(select value::bigint from json_array_elements_text($1::json)))
order by parent, child
limit $2::int
