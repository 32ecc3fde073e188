-- What these come after.
select child, parent, either, resolved
from procession.dependency
where child = any(array(select value::bigint from json_array_elements_text($1::json)))
order by child, parent
