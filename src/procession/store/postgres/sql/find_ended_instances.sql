-- Of the next instances by key: which they are, and whether they may be deleted.
select i.key,
       i.status in (1, 2) and i.ended_at <= $1::timestamptz
       and not exists (select from procession.instance caller where caller.key = i.parent)
from procession.instance i
where i.key > $2::bigint
order by i.key
limit $3
