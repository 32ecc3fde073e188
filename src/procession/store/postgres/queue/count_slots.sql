-- How many slots of limits that are held are taken, and whether jobs wait for one.
select k.value,
       (select count(*)::int from procession.slot s where s.limit_key = k.value),
       exists (select from procession.job j where j.waits_for = k.value and j.state = 4 and j.waits_for is not null)
from json_array_elements_text($1::json) as k (value)
