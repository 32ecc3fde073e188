-- The recurring jobs of a group.
select name
from procession.recurring
where sync_group = $1::json ->> 0 and tenant = $2::text
order by name
for no key update
