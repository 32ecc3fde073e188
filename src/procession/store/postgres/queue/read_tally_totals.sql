-- What was counted of these processes as a whole.
select definition, place, measure, times
from procession.tally
where definition = any(array(select value::bigint from json_array_elements_text($1::json)))
  and place = 0 and measure < 1000
