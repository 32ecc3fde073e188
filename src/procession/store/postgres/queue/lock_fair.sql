-- The last places in line of keys, held until the end of the transaction.
with u as materialized (
    select * from json_to_recordset($1::json) as u (queue text, key text)
)
select p.queue, p.key, p.place
from procession.fair_place p
where p.queue = any(array(select u.queue from u)) and p.key = any(array(select u.key from u))
  and (p.queue, p.key) in (select u.queue, u.key from u)
order by p.queue, p.key
for no key update of p
