-- The message and signal start events of a new version.
insert into procession.subscription (key, definition, trigger, once, tenant, name, correlation_key, process_id, element)
select u.key, $1, u.trigger, false, $2, u.name, '', $3, u.element
from unnest($4::bigint[], $5::smallint[], $6::text[], $7::text[]) as u (key, trigger, name, element)
