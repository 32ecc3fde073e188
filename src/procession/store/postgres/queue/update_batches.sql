-- Batches of jobs that are held, as they are now.
with u as materialized (
    select *
    from json_to_recordset($1::json) as u (key bigint, state smallint, total int, succeeded int, failed int, deleted int, finished_at bigint)
)
update procession.job_batch
set state = u.state, total = u.total, succeeded = u.succeeded, failed = u.failed, deleted = u.deleted,
    finished_at = u.finished_at
from u
where job_batch.key = any(array(select u.key from u)) and job_batch.key = u.key
