-- New instances, their jobs and their history. An instance that exists already makes the statement fail: a start is
-- hardly ever sent twice, and commit_wide.sql is there for that.
-- Columns come as one value each (_columns.py): numbers as the text of an array, JSON in lines, states one after the other
-- with where each begins and how long it is. Process ids come once where all are the same; unnest fills up with nulls.
with s as materialized (
    select u.instance, u.definition, coalesce(u.process_id, ($3)[1]) as process_id, u.status,
           nullif(u.tenant, '') as tenant, substring($6::bytea from u.state_at for u.state_length) as state,
           u.variables::jsonb as variables, u.events::json as events, u.more::json as more
    from unnest($1::text::bigint[], $2::text::bigint[], $3::text[], $4::text::smallint[], $5::text[],
                $7::text::int[], $8::text::int[], string_to_array($9::text, E'\n', ''),
                string_to_array($10::text, E'\n', ''), string_to_array($11::text, E'\n', ''))
         as u (instance, definition, process_id, status, tenant, state_at, state_length, variables, events, more)
), i as (
    insert into procession.instance (key, definition, parent, parent_element_instance, started_at, ended_at, rev, status,
                                     process_id, business_id, tenant, tags, state, variables)
    select s.instance, s.definition, (s.more ->> 'parent')::bigint, (s.more ->> 'parent_element_instance')::bigint,
           coalesce($12::timestamptz, now()), case when s.status in (1, 2) then coalesce($12, now()) end, 1, s.status,
           s.process_id, s.more ->> 'business_id', s.tenant,
           case when s.more -> 'tags' is not null then array(select json_array_elements_text(s.more -> 'tags')) end,
           s.state, coalesce(s.variables, '{}')
    from s
), j as (
    insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                                run_at, created_at, owner, lease, attempt, retries, args, tenant)
    select n.key, t.kind,
           case when t.owner is not null then 1 when n.run_at > coalesce($12, now()) or n.delay_ms > 0 then 2 else 0 end,
           t.queue, t.type, n.instance, n.element_instance, t.element, t.definition, t.priority,
           coalesce(n.run_at, coalesce($12, now())) + coalesce(n.delay_ms, 0) * interval '1 millisecond', coalesce($12, now()),
           t.owner, case when t.owner is null then 0 else 1 end, case when t.owner is null then 0 else 1 end,
           t.retries, n.args, t.tenant
    from unnest($13::text::bigint[], $14::text::bigint[], $15::text::bigint[], $16::text::int[], $17::timestamptz[],
                $18::bigint[], $19::json[])
         as n (key, instance, element_instance, likeness, run_at, delay_ms, args)
    join rows from (json_to_recordset($20)
                    as (kind smallint, queue text, type text, element text, definition bigint, priority int, retries int,
                        owner int, tenant text))
         with ordinality as t (kind, queue, type, element, definition, priority, retries, owner, tenant, number)
      on t.number = n.likeness
)
insert into procession.history (instance, definition, at, events)
select s.instance, s.definition, coalesce($12, now()), s.events
from s
where s.events is not null
