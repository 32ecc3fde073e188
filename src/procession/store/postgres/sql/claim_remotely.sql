-- As claim.sql, for workers that are no nodes: scheduled (2) for the end of the lease, owned by nobody that could die
-- (-1). When that time comes promote.sql makes them ready again.
with w as (
    select * from unnest($1::text[], $2::int[], $3::bigint[], $5::json[]) as u (queue, count, lease_ms, tenants)
), picked as materialized (
    select p.key, p.run_at, w.lease_ms
    from w
    cross join lateral (
        select key, run_at
        from procession.job
        where state = 0 and queue = w.queue
          and not exists (select from procession.pause p where p.kind = 0 and p.name = w.queue)
          and type <> all(array(select name from procession.pause where kind = 1))
          and (w.tenants is null or coalesce(tenant, '') in (select json_array_elements_text(w.tenants)))
        order by priority desc, run_at, key
        limit w.count
        for no key update skip locked
    ) p
)
update procession.job
set state = 2, owner = -1, lease = lease + 1, attempt = attempt + 1,
    run_at = coalesce($4::timestamptz, now()) + picked.lease_ms * interval '1 millisecond'
from picked
where job.key = any(array(select key from picked)) and job.key = picked.key
returning job.key, lease, kind, queue, type, instance, element_instance, element, definition, priority, attempt, retries,
          args, tenant, picked.run_at, options, checkpoint, crashes
