insert into procession.batch (key, kind, request, total, tenant, created_at)
values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()))
on conflict do nothing
returning key
