-- Attempts of jobs that are neither in the queue nor in the archive, and of no instance that is still there.
select distinct l.job
from procession.job_attempt l
where not exists (select from procession.job j where j.key = l.job)
  and not exists (select from procession.job_archive a where a.key = l.job)
  and not exists (select from procession.instance i where i.key = l.instance)
order by l.job
limit ($1::json ->> 0)::bigint
