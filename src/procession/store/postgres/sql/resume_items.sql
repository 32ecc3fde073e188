update procession.job set state = 0, run_at = coalesce($2::timestamptz, now())
where key = any($1::bigint[]) and state = 6
returning key
