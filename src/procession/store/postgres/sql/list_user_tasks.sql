-- Open user tasks, oldest first. Planned anew each time, so that conditions that do not restrict cost nothing.
select key, instance, element_instance, element, name, definition, process_id, assignee, candidate_users,
       candidate_groups, due_at, follow_up_at, priority, form_key, created_at, tenant, form
from procession.user_task
where ($1::bigint = 0 or key = $1)
  and ($2::bigint = 0 or instance = $2)
  and ($3 = '' or process_id = $3)
  and ($4 = '' or element = $4)
  and ($5 = '' or assignee = $5)
  and (not $6::boolean or assignee = '')
  and ($7 = '' or candidate_users @> array[$7])
  and ($8 = '' or candidate_groups @> array[$8])
  and ($9::bigint = 0 or due_at < to_timestamp($9 / 1000.0))
  and ($10::bigint = 0 or follow_up_at < to_timestamp($10 / 1000.0))
  and priority >= $11::int
  and ($12 = '' or tenant = $12)
  and key > $13::bigint
order by key
limit $14
