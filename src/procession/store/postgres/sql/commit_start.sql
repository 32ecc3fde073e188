-- New instances, their jobs and their history. An instance that exists already makes the statement fail: a start is
-- hardly ever sent twice, and commit_wide.sql is there for that.
-- Columns that hold one value come with one element, those that hold none are null; unnest fills both with nulls.
with s as materialized (
    select *
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::smallint[], $5::text[], $6::bytea[], $7::jsonb[], $8::json[],
                $9::json[])
         as u (instance, definition, process_id, status, tenant, state, variables, events, more)
), i as (
    insert into procession.instance (key, definition, parent, parent_element_instance, started_at, ended_at, rev, status,
                                     process_id, business_id, tenant, tags, state, variables)
    select s.instance, coalesce(s.definition, ($2)[1]), (s.more ->> 'parent')::bigint,
           (s.more ->> 'parent_element_instance')::bigint, coalesce($10::timestamptz, now()),
           case when coalesce(s.status, ($4)[1]) in (1, 2) then coalesce($10, now()) end, 1, coalesce(s.status, ($4)[1]),
           coalesce(s.process_id, ($3)[1]), s.more ->> 'business_id', nullif(coalesce(s.tenant, ($5)[1]), ''),
           case when s.more -> 'tags' is not null then array(select json_array_elements_text(s.more -> 'tags')) end,
           coalesce(s.state, ($6)[1]), coalesce(s.variables, '{}')
    from s
), j as (
    insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                                run_at, created_at, owner, lease, attempt, retries, args, tenant)
    select n.key, t.kind,
           case when t.owner is not null then 1 when n.run_at > coalesce($10, now()) or n.delay_ms > 0 then 2 else 0 end,
           t.queue, t.type, n.instance, n.element_instance, t.element, t.definition, t.priority,
           coalesce(n.run_at, coalesce($10, now())) + coalesce(n.delay_ms, 0) * interval '1 millisecond', coalesce($10, now()),
           t.owner, case when t.owner is null then 0 else 1 end, case when t.owner is null then 0 else 1 end,
           t.retries, n.args, t.tenant
    from unnest($11::bigint[], $12::bigint[], $13::bigint[], $14::int[], $15::timestamptz[], $16::bigint[], $17::json[])
         as n (key, instance, element_instance, likeness, run_at, delay_ms, args)
    join rows from (json_to_recordset($18)
                    as (kind smallint, queue text, type text, element text, definition bigint, priority int, retries int,
                        owner int, tenant text))
         with ordinality as t (kind, queue, type, element, definition, priority, retries, owner, tenant, number)
      on t.number = n.likeness
)
insert into procession.history (instance, definition, at, events)
select s.instance, coalesce(s.definition, ($2)[1]), coalesce($10, now()), s.events
from s
where s.events is not null
