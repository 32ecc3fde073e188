-- Jobs that belong to no step, and the follow-ups of messages and signals. One that is there already (sent again after an
-- unclear answer) is left as it is.
insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                            run_at, created_at, owner, lease, attempt, retries, args, tenant)
select n.key, coalesce(n.kind, 0),
       case when n.owner is not null then 1 when n.run_at > coalesce($1::timestamptz, now()) or n.delay_ms > 0 then 2 else 0 end,
       n.queue, n.type, n.instance, n.element_instance, n.element, n.definition, coalesce(n.priority, 0),
       coalesce(n.run_at, coalesce($1::timestamptz, now())) + coalesce(n.delay_ms, 0) * interval '1 millisecond', coalesce($1::timestamptz, now()),
       n.owner, case when n.owner is null then 0 else 1 end, case when n.owner is null then 0 else 1 end,
       n.retries, n.args, n.tenant
from unnest($2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[],
            $9::bigint[], $10::int[], $11::timestamptz[], $12::bigint[], $13::int[], $14::json[], $15::int[],
            $16::text[])
     as n (key, kind, queue, type, instance, element_instance, element, definition, priority, run_at, delay_ms,
           retries, args, owner, tenant)
on conflict (key) do nothing
