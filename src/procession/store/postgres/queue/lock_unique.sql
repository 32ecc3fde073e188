-- Who holds these unique keys, which are held until the end of the transaction.
with u as materialized (
    select * from json_to_recordset($1::json) as u (tenant text, key text)
)
select k.tenant, k.key, k.job, k.until
from procession.unique_key k
where k.tenant = any(array(select distinct u.tenant from u)) and k.key = any(array(select u.key from u))
  and (k.tenant, k.key) in (select u.tenant, u.key from u)
order by k.tenant, k.key
for no key update of k
