-- Batches of jobs that are opened.
insert into procession.job_batch (key, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title,
                                  tenant, is_flow)
select u.key, 0, u.parent, 0, 0, 0, 0, u.created_at, 0, u.title, u.tenant, u.is_flow
from json_to_recordset($1::json) as u (key bigint, parent bigint, created_at bigint, title text, tenant text,
                                      is_flow smallint)
