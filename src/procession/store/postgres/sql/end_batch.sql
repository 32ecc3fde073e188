-- Items that were taken back were not emitted.
update procession.batch
set state = 2, ended_at = coalesce($2::timestamptz, now()), emitted = emitted - $3::int
where key = $1::bigint and state in (0, 3)
returning key
