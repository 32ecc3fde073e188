-- Those that are first in line for a slot of a limit.
select key, queue
from procession.job
where waits_for = $1::json ->> 0 and state = 4 and waits_for is not null
order by priority desc, run_at, key
limit $2::int
for no key update skip locked
