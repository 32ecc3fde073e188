-- User tasks of migrated instances go with them.
update procession.user_task r
set element = m.element, definition = m.definition, process_id = m.process_id, name = m.name
from json_to_recordset($1) as m (key bigint, element text, definition bigint, process_id text, name text)
where r.key = m.key
