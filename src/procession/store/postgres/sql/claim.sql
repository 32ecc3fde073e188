-- Lease ready jobs of several queues at once. `state = 0` is literal, so that the partial index job_ready gives them in
-- claim order (priority, then age); only then are they updated by key.
with w as (
    select * from unnest($1::text[], $2::int[]) as u (queue, count)
), picked as materialized (
    select p.key
    from w
    cross join lateral (
        select key
        from procession.job
        where state = 0 and queue = w.queue
        order by priority desc, run_at, key
        limit w.count
        for no key update skip locked
    ) p
)
update procession.job
set state = 1, owner = $3, lease = lease + 1, attempt = attempt + 1
where key = any(array(select key from picked))
returning key, lease, kind, queue, type, instance, element_instance, element, definition, priority, attempt, retries,
          args, tenant, run_at
