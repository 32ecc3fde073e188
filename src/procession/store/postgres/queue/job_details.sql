-- A job of the queue with everything.
select key, kind, state, queue, type, coalesce(instance, 0), priority, run_at, attempt, retries, crashes, lease,
       coalesce(owner, 0), coalesce(error, ''), created_at, coalesce(ended_at, 0), args, ''::text, options,
       coalesce(traits, 0), coalesce(progress, 0), coalesce(progress_text, ''), checkpoint, cancel_reason,
       coalesce(waits_for, ''), coalesce(tenant, '')
from procession.job
where key = ($1::json ->> 0)::bigint
