-- They try next.
update procession.job set waits_for = null where key = any(array(select value::bigint from json_array_elements_text($1::json)))
