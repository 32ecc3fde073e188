-- Unique keys get other holders.
with u as materialized (
    select * from json_to_recordset($1::json) as u (tenant text, key text, job bigint, until bigint)
)
update procession.unique_key
set job = u.job, until = u.until
from u
where unique_key.tenant = u.tenant and unique_key.key = u.key and unique_key.key = any(array(select u.key from u))
  and unique_key.tenant = any(array(select u.tenant from u))
