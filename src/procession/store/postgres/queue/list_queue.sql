-- A page of the jobs of the queue, oldest first.
select key, kind, state, queue, type, coalesce(instance, 0), priority, run_at, attempt, retries, crashes, lease,
       coalesce(owner, 0), coalesce(error, ''), created_at, coalesce(ended_at, 0), args, ''::text, options,
       coalesce(traits, 0), coalesce(progress, 0), coalesce(progress_text, ''), checkpoint, cancel_reason,
       coalesce(waits_for, ''), coalesce(tenant, '')
from procession.job
where key > ($1::json -> 0 ->> 'after')::bigint
  and (($1::json -> 0 ->> 'state')::int < 0 or state = ($1::json -> 0 ->> 'state')::int)
  and (($1::json -> 0 ->> 'queue') = '' or queue = ($1::json -> 0 ->> 'queue'))
  and (($1::json -> 0 ->> 'type') = '' or type = ($1::json -> 0 ->> 'type'))
  and (($1::json -> 0 ->> 'tenant') = '' or tenant = ($1::json -> 0 ->> 'tenant'))
  and (($1::json -> 0 ->> 'batch')::bigint = 0 or batch = ($1::json -> 0 ->> 'batch')::bigint)
  and (($1::json -> 0 ->> 'owner')::int = 0 or owner = ($1::json -> 0 ->> 'owner')::int)
  and (json_array_length($1::json -> 0 -> 'kinds') = 0
       or kind in (select value::int from json_array_elements_text($1::json -> 0 -> 'kinds')))
  and (($1::json -> 0 ->> 'tag') = ''
       or exists (select from json_array_elements_text(options -> 'tags') as t (value) where t.value = ($1::json -> 0 ->> 'tag')))
  and (($1::json -> 0 ->> 'text') = ''
       or lower(options ->> 'title' collate "C") like ($1::json -> 0 ->> 'text') escape '!'
       or lower(type collate "C") like ($1::json -> 0 ->> 'text') escape '!'
       or lower(error collate "C") like ($1::json -> 0 ->> 'text') escape '!'
       or lower(args::text collate "C") like ($1::json -> 0 ->> 'text') escape '!')
order by key
limit ($1::json -> 0 ->> 'limit')::int
