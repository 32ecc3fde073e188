-- The runs of these jobs have ended.
delete from procession.slot where job = any(array(select value::bigint from json_array_elements_text($1::json)))
