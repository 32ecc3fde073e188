-- Deadlines that begin anew or are dropped.
with u as materialized (
    select * from json_to_recordset($1::json) as u (key bigint, deadline_at bigint)
)
update procession.job
set deadline_at = u.deadline_at
from u
where job.key = any(array(select key from u)) and job.key = u.key
