-- New arguments for the holder of a unique key.
with u as materialized (
    select * from json_to_recordset($1::json) as u (key bigint, args text)
)
update procession.job set args = nullif(u.args, '')::json from u where job.key = any(array(select key from u)) and job.key = u.key
