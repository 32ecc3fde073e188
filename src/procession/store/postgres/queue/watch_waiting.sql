-- Subscriptions of instances to one message, oldest first.
select key, instance, element_instance, element, definition, process_id, trigger, name, correlation_key, once, tenant
from procession.subscription
where tenant = ($1::json -> 0 ->> 'tenant') and name = ($1::json -> 0 ->> 'name') and trigger = 1 and correlation_key = ($1::json -> 0 ->> 'correlation_key')
  and instance is not null and not taken
order by key
limit ($1::json -> 0 ->> 'limit')::bigint
