-- Jobs that belong to no step, and the follow-ups of messages and signals. One that is there already (sent again after an
-- unclear answer) is left as it is. What many jobs have in common comes once, and each says which it is like.
insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                            run_at, created_at, owner, lease, attempt, retries, args, tenant)
select n.key, t.kind,
       case when t.owner is not null then 1 when n.run_at > coalesce($1::timestamptz, now()) or n.delay_ms > 0 then 2 else 0 end,
       t.queue, t.type, n.instance, n.element_instance, t.element, t.definition, t.priority,
       coalesce(n.run_at, coalesce($1::timestamptz, now())) + coalesce(n.delay_ms, 0) * interval '1 millisecond', coalesce($1::timestamptz, now()),
       t.owner, case when t.owner is null then 0 else 1 end, case when t.owner is null then 0 else 1 end,
       t.retries, n.args, t.tenant
from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::timestamptz[], $7::bigint[], $8::json[])
     as n (key, instance, element_instance, likeness, run_at, delay_ms, args)
join rows from (json_to_recordset($9)
                as (kind smallint, queue text, type text, element text, definition bigint, priority int, retries int,
                    owner int, tenant text))
     with ordinality as t (kind, queue, type, element, definition, priority, retries, owner, tenant, number)
  on t.number = n.likeness
on conflict (key) do nothing
