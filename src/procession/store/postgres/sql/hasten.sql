-- Timers and follow-ups (kinds 3 and 4) of an instance that have been tried before are ready now.
update procession.job
set state = 0, run_at = coalesce($2::timestamptz, now())
where instance = $1::bigint and state = 2 and kind in (3, 4) and attempt > 0
returning queue
