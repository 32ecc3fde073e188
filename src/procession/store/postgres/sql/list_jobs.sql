-- A page of jobs, oldest first.
select key, kind, state, queue, type, instance, element_instance, element, definition, priority, run_at, attempt,
       retries, lease, owner, error, created_at, args, crashes, tenant
from procession.job
where ($1::bigint = 0 or instance = $1)
  and ($2::int < 0 or state = $2)
  and ($3::int < 0 or kind = $3)
  and ($4 = '' or queue = $4)
  and ($5 = '' or type = $5)
  and ($6 = '' or tenant = $6)
  and key > $7::bigint
order by key
limit $8
