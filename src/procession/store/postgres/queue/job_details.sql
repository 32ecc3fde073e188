-- Jobs of the queue with everything.
select key, kind, state, queue, type, coalesce(instance, 0), priority, run_at, attempt, retries, crashes, lease,
       coalesce(owner, 0), coalesce(error, ''), created_at, coalesce(ended_at, 0), args, ''::text, options,
       coalesce(traits, 0), coalesce(progress, 0), coalesce(progress_text, ''), checkpoint, cancel_reason,
       coalesce(waits_for, ''), coalesce(tenant, '')
from procession.job
where key = any(array(select value::bigint from json_array_elements_text($1::json)))
order by key
