-- The committed steps of one instance in order.
select position, instance, definition, at, events
from procession.history
where instance = $1 and position > $2
order by position
limit $3
