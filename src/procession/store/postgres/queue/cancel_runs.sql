-- Somebody wants these runs to end.
with u as materialized (
    select * from json_to_recordset($1::json) as u (key bigint, reason text, traits int)
)
update procession.job
set cancel_reason = u.reason, traits = u.traits
from u
where job.key = any(array(select key from u)) and job.key = u.key
