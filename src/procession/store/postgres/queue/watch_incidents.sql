-- Incidents by key.
select key, instance, element_instance, element, definition, process_id, kind, message, job, created_at, fingerprint,
       tenant
from procession.incident
where key = any(array(select value::bigint from json_array_elements_text($1::json)))
