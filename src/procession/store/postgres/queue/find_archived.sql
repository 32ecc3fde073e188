-- What is kept of jobs that have left the queue.
select key, state, type, error, output
from procession.job_archive
where key = any(array(select value::bigint from json_array_elements_text($1::json)))
