-- The steps of several instances.
select position, instance, definition, at, events
from procession.history
where instance = any(array(select value::bigint from json_array_elements_text($1::json)))
  and ($2 = '' or events::text like $2) and position < $3::bigint
order by instance, position
limit $4::bigint
