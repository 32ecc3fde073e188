update procession.batch set state = 3 where key = $1::bigint and state = 0 returning jobs
