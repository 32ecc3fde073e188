-- A page of the archive, oldest first.
select key, kind, state, queue, type, 0, priority, run_at, attempt, retries, crashes, lease, 0, coalesce(error, ''),
       created_at, ended_at, args, output, options, 0, coalesce(progress, 0), coalesce(progress_text, ''), ''::text,
       null::text, ''::text, coalesce(tenant, '')
from procession.job_archive
where key > ($1::json -> 0 ->> 'after')::bigint
  and (($1::json -> 0 ->> 'state')::int < 0 or state = ($1::json -> 0 ->> 'state')::int)
  and (($1::json -> 0 ->> 'queue') = '' or queue = ($1::json -> 0 ->> 'queue'))
  and (($1::json -> 0 ->> 'type') = '' or type = ($1::json -> 0 ->> 'type'))
  and (($1::json -> 0 ->> 'tenant') = '' or tenant = ($1::json -> 0 ->> 'tenant'))
  and (($1::json -> 0 ->> 'batch')::bigint = 0 or batch = ($1::json -> 0 ->> 'batch')::bigint)
  and (($1::json -> 0 ->> 'owner')::int = 0 or 0 = ($1::json -> 0 ->> 'owner')::int)
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
