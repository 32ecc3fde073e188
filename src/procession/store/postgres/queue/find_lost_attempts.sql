-- Attempts of jobs that are neither in the queue nor in the archive.
select distinct l.job
from procession.job_attempt l
where not exists (select from procession.job j where j.key = l.job)
  and not exists (select from procession.job_archive a where a.key = l.job)
order by l.job
limit ($1::json ->> 0)::bigint
