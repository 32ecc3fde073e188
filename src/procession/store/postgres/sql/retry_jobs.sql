-- Failed jobs are ready again.
update procession.job
set state = 0, retries = $2::int, crashes = 0, run_at = coalesce($3::timestamptz, now())
where state = 5 and key = any($1::bigint[])
returning key
