-- Buffered messages, oldest first.
select key, name, correlation_key, variables, message_id, published_at, expires_at, tenant
from procession.message
where ($1 = '' or name = $1) and ($2 = '' or tenant = $2) and expires_at > coalesce($4::timestamptz, now())
order by published_at, key
limit $3
