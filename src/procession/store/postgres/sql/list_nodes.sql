-- The processes that work on this database.
select node, name, started_at, beat_at,
       (select count(*) from procession.job where state = 1 and owner = node.node) as running, details
from procession.node
order by node
