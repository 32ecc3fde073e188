insert into procession.batch (key, kind, request, total, tenant, created_at, retry_of)
values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()), nullif($7::bigint, 0))
on conflict do nothing
returning key
