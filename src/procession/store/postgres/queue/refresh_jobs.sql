-- What a new job brings to the holder of its unique key.
with u as materialized (
    select *
    from json_to_recordset($1::json)
         as u (key bigint, args text, options text, traits int, deadline_at bigint, type text, queue text)
)
update procession.job
set args = nullif(u.args, '')::json, options = u.options::json, traits = u.traits, deadline_at = u.deadline_at, type = u.type,
    queue = u.queue
from u
where job.key = any(array(select key from u)) and job.key = u.key
