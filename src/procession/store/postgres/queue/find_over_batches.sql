-- Batches of jobs that finished before a time and of which nothing is there any more: no member, nobody who comes after
-- them, no batch around them.
select b.key
from procession.job_batch b
where b.state = 2 and b.finished_at <= $2::bigint
  and not exists (select from procession.job j where j.batch = b.key)
  and not exists (select from procession.job_archive a where a.batch = b.key)
  and not exists (select from procession.dependency d where d.parent = b.key)
  and not exists (select from procession.job_batch around where around.key = b.parent)
order by b.finished_at, b.key
limit ($1::json ->> 0)::bigint
