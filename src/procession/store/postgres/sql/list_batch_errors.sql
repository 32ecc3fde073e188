select batch, item, message from procession.batch_error where batch = $1::bigint and item > $2::bigint order by item limit $3
