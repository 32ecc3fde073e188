select key, name, tenant, created_at, body
from procession.kept
where kind = $1::text and ($2::bigint = 0 or key = $2) and ($3::text = '' or name = $3) and ($4::bigint = 0 or key < $4)
order by key desc
limit $5::int
