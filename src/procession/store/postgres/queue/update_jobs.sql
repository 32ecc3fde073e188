-- Jobs that are held, as they are now; nobody owns them.
with u as materialized (
    select *
    from json_to_recordset($1::json)
         as u (key bigint, state smallint, run_at bigint, priority int, attempt int, retries int, crashes int, error text,
               waits_for text, ended_at bigint)
)
update procession.job
set state = u.state, run_at = timestamptz 'epoch' + u.run_at * interval '1 millisecond', priority = u.priority,
    attempt = u.attempt, retries = u.retries, crashes = u.crashes, error = u.error, waits_for = u.waits_for,
    ended_at = u.ended_at, owner = null
from u
where job.key = any(array(select key from u)) and job.key = u.key
