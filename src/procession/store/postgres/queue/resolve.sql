-- These no longer hold their children up.
with u as materialized (
    select * from json_to_recordset($1::json) as u (child bigint, parent bigint)
)
update procession.dependency
set resolved = true
from u
where dependency.child = any(array(select u.child from u)) and dependency.child = u.child
  and dependency.parent = u.parent
