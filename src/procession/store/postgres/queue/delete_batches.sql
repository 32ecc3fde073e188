-- Batches of jobs are forgotten.
delete from procession.job_batch where key = any(array(select value::bigint from json_array_elements_text($1::json)))
