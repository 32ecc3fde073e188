-- Who waits for these.
select child, parent, either
from procession.dependency
where parent = any(array(select value::bigint from json_array_elements_text($1::json))) and not resolved
order by child, parent
