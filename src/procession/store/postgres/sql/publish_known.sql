-- Which of these message ids count at the moment.
select k.tenant, k.name, k.correlation_key, k.message_id, k.message
from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as c (tenant, name, correlation_key, message_id)
join procession.message_id k
  on k.tenant = c.tenant and k.name = c.name and k.correlation_key = c.correlation_key and k.message_id = c.message_id
where k.expires_at > coalesce($5::timestamptz, now())
