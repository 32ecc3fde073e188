-- Instances by key, with all that a step needs.
select key, rev, definition, process_id, status, state, variables, business_id, parent, parent_element_instance, tags,
       tenant, started_at, ended_at
from procession.instance
where key = any($1::bigint[])
