-- Add to the counts per minute.
insert into procession.job_stat as s (minute, queue, type, enqueued, succeeded, failed, retried, run_ms)
select u.minute, u.queue, u.type, sum(u.enqueued), sum(u.succeeded), sum(u.failed), sum(u.retried), sum(u.run_ms)
from json_to_recordset($1::json) as u (minute bigint, queue text, type text, enqueued bigint, succeeded bigint, failed bigint, retried bigint, run_ms bigint)
group by u.minute, u.queue, u.type
order by u.minute, u.queue collate "C", u.type collate "C"
on conflict (minute, queue, type) do update
set enqueued = s.enqueued + excluded.enqueued, succeeded = s.succeeded + excluded.succeeded, failed = s.failed + excluded.failed,
    retried = s.retried + excluded.retried, run_ms = s.run_ms + excluded.run_ms
