-- Failed jobs are ready again; those with traits go the long way (requeue_jobs).
update procession.job
set state = 0, retries = $2::int, crashes = 0, ended_at = null, run_at = coalesce($3::timestamptz, now())
where state = 5 and traits is null and key = any($1::bigint[])
returning key
