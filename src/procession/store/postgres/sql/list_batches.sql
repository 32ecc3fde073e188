-- With no keys given all of them.
select b.key, b.kind, b.request, b.state, b.total, b.emitted,
       (select count(*) from procession.batch_error e where e.batch = b.key), b.cursor,
       array(select j.key from procession.job j where j.key = any(b.jobs) order by j.key),
       b.created_at, b.ended_at, b.tenant, b.retry_of
from procession.batch b
where (cardinality($1::bigint[]) = 0 or b.key = any($1)) and ($2 = '' or b.tenant = $2)
  and ($3::bigint = 0 or b.key < $3)
order by b.key desc
limit $4
