-- Batches of jobs that are not over, and whose counts are not those of their members: the jobs that are there, and the
-- batches within. Members that succeeded or were deleted have left no row that must still be there: they are the rest.
select b.key
from procession.job_batch b
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
where b.state <> 2
  and (b.total - b.succeeded - b.failed - b.deleted <> m.alive + n.alive or b.failed <> m.failed + n.failed)
order by b.key
limit ($1::json ->> 0)::bigint
