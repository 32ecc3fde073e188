-- Hold the unique keys of these jobs until the end of the transaction.
select tenant, key
from procession.unique_key
where job = any(array(select value::bigint from json_array_elements_text($1::json)))
order by tenant, key
for no key update
