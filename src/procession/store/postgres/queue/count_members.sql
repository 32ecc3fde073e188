-- Of batches of jobs: how many of their members are not over, and how many of them have failed.
select b.key, m.alive + n.alive, m.failed + n.failed
from (select value::bigint as key from json_array_elements_text($1::json)) b
cross join lateral (
    select count(*) filter (where j.state <> 5) as alive, count(*) filter (where j.state = 5) as failed
    from procession.job j
    where j.batch = b.key
) m
cross join lateral (
    select count(*) filter (where c.state <> 2) as alive,
           count(*) filter (where c.state = 2 and c.failed > 0 and c.deleted = 0) as failed
    from procession.job_batch c
    where c.parent = b.key and c.parent <> 0
) n
