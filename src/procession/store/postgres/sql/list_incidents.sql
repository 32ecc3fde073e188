-- Open incidents, oldest first.
select key, instance, element_instance, element, definition, process_id, kind, message, job, created_at, fingerprint,
       tenant
from procession.incident
where ($1::bigint = 0 or instance = $1) and ($2 = '' or process_id = $2) and ($3 = '' or tenant = $3)
  and key > $4::bigint
order by key
limit $5
