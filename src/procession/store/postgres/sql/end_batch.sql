update procession.batch set state = 2, ended_at = coalesce($2::timestamptz, now()) where key = $1::bigint and state = 0
returning key
