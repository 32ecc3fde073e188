insert into procession.kept (kind, key, created_at, name, tenant, body)
select u.kind, u.key, coalesce($6::timestamptz, now()), u.name, u.tenant, u.body
from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bytea[]) as u (kind, key, name, tenant, body)
on conflict (kind, key) do update set name = excluded.name, tenant = excluded.tenant, body = excluded.body
