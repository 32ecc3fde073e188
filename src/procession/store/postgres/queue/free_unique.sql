-- Jobs are final: their unique keys are free, unless they are held for a time.
delete from procession.unique_key where job = any(array(select value::bigint from json_array_elements_text($1::json))) and (until is null or until <= $2::bigint)
