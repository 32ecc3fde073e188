insert into procession.batch_error (batch, item, message) values ($1::bigint, $2::bigint, $3) on conflict do nothing
