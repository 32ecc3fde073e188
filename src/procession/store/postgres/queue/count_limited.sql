-- How many jobs wait for a slot or a start of these limits.
select l.value ->> 'key', count(*)
from procession.job j
cross join lateral json_array_elements(j.options -> 'limits') as l (value)
where j.state = 4 and l.value ->> 'key' = any(array(select value from json_array_elements_text($1::json)))
group by 1
