-- What was counted of these definitions.
select definition, place, measure, times
from procession.tally
where definition = any(array(select value::bigint from json_array_elements_text($1::json)))
