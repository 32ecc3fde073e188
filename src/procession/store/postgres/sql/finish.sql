-- End runs in every way, under their leases: 0 done, 1 retry, 2 snooze, 3 release, 4 failed (rows.JobEnd). Jobs with
-- traits are ended the long way (settle in _shared/queue).
with u as materialized (
    select * from unnest($1::bigint[], $2::int[], $3::smallint[], $4::bigint[], $5::int[], $6::text[])
        as u (key, lease, ending, delay_ms, retries, error)
), done as (
    delete from procession.job
    using u
    where job.key = any($1) and job.key = u.key and job.lease = u.lease
      and (job.state = 1 or (job.state = 2 and job.owner = -1))
      and job.traits is null and u.ending = 0
    returning job.key, job.lease
), kept as (
    update procession.job
    set state = case when u.ending = 4 then 5 when u.ending in (1, 2) and u.delay_ms > 0 then 2 else 0 end,
        run_at = case when u.ending in (1, 2)
                 then coalesce($7::timestamptz, now()) + u.delay_ms * interval '1 millisecond'
                 when job.owner = -1 then coalesce($7, now()) else job.run_at end,
        attempt = case when u.ending in (2, 3) then job.attempt - 1 else job.attempt end,
        retries = case when u.ending in (2, 3) then job.retries when u.retries >= 0 then u.retries
                  else greatest(job.retries - 1, 0) end,
        crashes = case when u.ending = 3 then job.crashes else 0 end,
        error = coalesce(nullif(u.error, ''), job.error),
        ended_at = case when u.ending = 4
                   then (extract(epoch from coalesce($7, now())) * 1000)::bigint end,
        owner = null
    from u
    where job.key = any($1) and job.key = u.key and job.lease = u.lease
      and (job.state = 1 or (job.state = 2 and job.owner = -1))
      and job.traits is null and u.ending <> 0
    returning job.key, job.lease
)
select key, lease from done union all select key, lease from kept
