-- Nobody claims these.
insert into procession.pause (kind, name, since, reason)
select u.kind, u.name, u.since, u.reason
from json_to_recordset($1::json) as u (kind smallint, name text, since bigint, reason text)
on conflict (kind, name) do nothing
