-- The slots of these jobs.
select limit_key, job from procession.slot where job = any(array(select value::bigint from json_array_elements_text($1::json))) order by limit_key, job
