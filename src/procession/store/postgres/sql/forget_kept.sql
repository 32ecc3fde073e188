delete from procession.kept where kind = $1::text and (key = any($2::bigint[]) or key < $3::bigint) returning key
