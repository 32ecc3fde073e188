-- Counts per minute.
select minute, queue, type, enqueued, succeeded, failed, retried, run_ms
from procession.job_stat
where minute >= ($1::json -> 0 ->> 'since')::bigint and minute < ($1::json -> 0 ->> 'until')::bigint and (($1::json -> 0 ->> 'queue') = '' or queue = ($1::json -> 0 ->> 'queue'))
order by minute, queue, type
