-- What new jobs come after.
insert into procession.dependency (child, parent, either, resolved)
select u.child, u.parent, u.either <> 0, u.resolved <> 0
from json_to_recordset($1::json) as u (child bigint, parent bigint, either int, resolved int)
on conflict (child, parent) do nothing
