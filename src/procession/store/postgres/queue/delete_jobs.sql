-- Jobs leave the queue.
delete from procession.job where key = any(array(select value::bigint from json_array_elements_text($1::json)))
