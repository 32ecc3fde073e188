-- Buffered messages, oldest first.
select key, name, correlation_key, variables, message_id, published_at, expires_at, tenant
from procession.message
where ($1 = '' or name = $1) and expires_at > coalesce($3::timestamptz, now())
order by published_at, key
limit $2
