-- The places of the unlimited jobs that are next in a queue.
select priority, run_at, key
from procession.job
where state = 0 and queue = $1::json -> 0 ->> 'queue'
  and type <> all(array(
        select name from procession.pause where kind = 1
        union all
        select json_array_elements_text($1::json -> 0 -> 'strangers')))
order by priority desc, run_at, key
limit $2::int
