-- Delete jobs that ended well, under their leases. Answers with those that were held; jobs with traits are ended the
-- long way (settle in _shared/queue).
with u as materialized (
    select * from unnest($1::bigint[], $2::int[]) as u (key, lease)
)
delete from procession.job
using u
where job.key = any($1) and job.key = u.key and job.lease = u.lease
      and (job.state = 1 or (job.state = 2 and job.owner = -1))
      and job.traits is null
returning job.key, job.lease
