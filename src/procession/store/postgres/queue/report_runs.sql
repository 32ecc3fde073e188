-- What runs that are held say; nulls change nothing.
with u as materialized (
    select *
    from json_to_recordset($1::json)
         as u (key bigint, progress double precision, progress_text text, checkpoint text, traits int)
)
update procession.job
set progress = coalesce(u.progress, job.progress),
    progress_text = coalesce(u.progress_text, job.progress_text),
    checkpoint = coalesce(u.checkpoint::json, job.checkpoint),
    traits = coalesce(u.traits, job.traits)
from u
where job.key = any(array(select key from u)) and job.key = u.key
