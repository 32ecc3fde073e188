-- The job that asked for a submission is done, if it is held under this lease.
delete from procession.job
where key = any(array(select value::bigint from json_array_elements_text($1::json))) and lease = $2 and state = 1
returning key
