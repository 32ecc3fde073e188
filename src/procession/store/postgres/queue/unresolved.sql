-- Which of these still wait for somebody.
select distinct child from procession.dependency where child = any(array(select value::bigint from json_array_elements_text($1::json))) and not resolved order by child
