-- Attempts go with their jobs.
delete from procession.job_attempt where job = any(array(select value::bigint from json_array_elements_text($1::json)))
