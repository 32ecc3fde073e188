-- How many lines the logs of jobs have.
select job, count(*)::int from procession.job_log where job = any(array(select value::bigint from json_array_elements_text($1::json))) group by job
