-- Rows leave the archive.
delete from procession.job_archive where key = any(array(select value::bigint from json_array_elements_text($1::json)))
