-- Rows of the archive for jobs that are about to leave the queue.
with u as materialized (
    select *
    from json_to_recordset($1::json)
         as u (key bigint, state smallint, ended_at bigint, expires_at bigint, error text, output text)
)
insert into procession.job_archive (key, kind, state, priority, run_at, attempt, retries, crashes, lease, created_at,
                                    ended_at, expires_at, batch, progress, queue, type, tenant, error, args, output,
                                    options, progress_text)
select j.key, j.kind, u.state, j.priority, j.run_at, j.attempt, j.retries, j.crashes, j.lease, j.created_at, u.ended_at,
       u.expires_at, j.batch, j.progress, j.queue, j.type, j.tenant, u.error, j.args, u.output::json, j.options,
       j.progress_text
from u
join procession.job j on j.key = u.key and j.key = any(array(select key from u))
