-- Attempts that failed; one that was written before stays.
insert into procession.job_attempt (job, lease, attempt, at, worker, type, message, instance)
select u.job, u.lease, u.attempt, u.at, u.worker, u.type, u.message, u.instance
from json_to_recordset($1::json)
     as u (job bigint, lease int, attempt int, at bigint, worker text, type text, message text, instance bigint)
on conflict (job, lease) do nothing
