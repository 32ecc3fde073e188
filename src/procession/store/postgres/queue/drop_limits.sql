-- Limits that are held and have no use.
delete from procession.limits where key = any(array(select value from json_array_elements_text($1::json)))
