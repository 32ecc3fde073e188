-- Everything that waits for a signal, start events included.
select key, instance, element_instance, element, definition, process_id, trigger, name, correlation_key, once, tenant
from procession.subscription
where not taken
  and key = any(array(
      select key
      from procession.subscription
      where instance is not null and not taken and trigger = 3 and tenant = $1 and name = $2
      union all
      select key
      from procession.subscription
      where instance is null and trigger = 3 and tenant = $1 and name = $2))
order by key
