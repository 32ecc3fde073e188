-- Open user tasks, oldest first.
select key, instance, element_instance, element, name, definition, process_id, assignee, candidate_users,
       candidate_groups, due_at, follow_up_at, priority, form_key, created_at, tenant
from procession.user_task
where ($1::bigint = 0 or instance = $1) and ($2 = '' or assignee = $2) and ($3 = '' or candidate_groups @> array[$3])
  and key > $4::bigint
order by key
limit $5
