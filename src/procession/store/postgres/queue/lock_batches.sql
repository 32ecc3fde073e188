-- Batches of jobs, held until the end of the transaction; in key order.
select key, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant
from procession.job_batch
where key = any(array(select value::bigint from json_array_elements_text($1::json)))
order by key
for no key update
