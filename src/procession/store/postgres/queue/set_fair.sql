-- The last places in line of keys that are held.
with u as materialized (
    select * from json_to_recordset($1::json) as u (queue text, key text, place bigint)
)
update procession.fair_place
set place = u.place
from u
where fair_place.queue = any(array(select u.queue from u)) and fair_place.key = any(array(select u.key from u))
  and fair_place.queue = u.queue and fair_place.key = u.key
