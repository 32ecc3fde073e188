-- Open subscriptions, those of start events included.
select key, instance, element_instance, element, definition, process_id, trigger, name, correlation_key, once, tenant
from procession.subscription
where ($1::bigint = 0 or instance = $1) and ($2 = '' or name = $2) and ($3 = '' or tenant = $3) and key > $4::bigint
  and not taken
order by key
limit $5
