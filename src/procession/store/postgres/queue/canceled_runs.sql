-- Runs of a process that somebody wants to end.
select key, lease, cancel_reason
from procession.job
where owner = ($1::json ->> 0)::bigint::int and cancel_reason is not null and state = 1
order by key
