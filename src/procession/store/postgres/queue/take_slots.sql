-- Slots of runs that start.
insert into procession.slot (limit_key, job, node)
select u.limit_key, u.job, u.node
from json_to_recordset($1::json) as u (limit_key text, job bigint, node int)
