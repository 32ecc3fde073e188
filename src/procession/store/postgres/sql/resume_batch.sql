update procession.batch set state = 0 where key = $1::bigint and state = 3 returning jobs
