-- Jobs of migrated instances go with them.
update procession.job r
set element = m.element, definition = m.definition
from json_to_recordset($1) as m (key bigint, element text, definition bigint, process_id text, name text)
where r.key = m.key
