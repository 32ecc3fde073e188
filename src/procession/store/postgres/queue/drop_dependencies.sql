-- These wait for nobody any more.
delete from procession.dependency where child = any(array(select value::bigint from json_array_elements_text($1::json)))
