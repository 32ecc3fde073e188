-- Jobs of the archive with everything.
select key, kind, state, queue, type, 0, priority, run_at, attempt, retries, crashes, lease, 0, coalesce(error, ''),
       created_at, ended_at, args, output, options, 0, coalesce(progress, 0), coalesce(progress_text, ''), ''::text,
       null::text, ''::text, coalesce(tenant, '')
from procession.job_archive
where key = any(array(select value::bigint from json_array_elements_text($1::json)))
order by key
