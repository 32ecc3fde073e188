-- What the node of a claimed job gets.
select key, lease, kind, queue, type, instance, element_instance, element, definition, priority, attempt, retries, args,
       tenant, run_at, options, checkpoint, crashes
from procession.job
where key = any(array(select value::bigint from json_array_elements_text($1::json)))
