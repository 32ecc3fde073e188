-- New instances, their jobs and their history. Answers with the instances that exist already: nothing of those is written.
-- Arrays of defaults come empty and are filled with nulls by unnest.
with s as materialized (
    select *
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::smallint[], $5::bytea[], $6::jsonb[], $7::json[], $8::text[],
                $9::bigint[], $10::bigint[], $11::json[], $12::text[])
         as u (instance, definition, process_id, status, state, variables, events, business_id,
               parent, parent_element_instance, tags, tenant)
), i as (
    insert into procession.instance (key, definition, parent, parent_element_instance, started_at, ended_at, rev, status,
                                     process_id, business_id, tenant, tags, state, variables)
    select s.instance, s.definition, s.parent, s.parent_element_instance, coalesce($13::timestamptz, now()),
           case when s.status in (1, 2) then coalesce($13, now()) end, 1, coalesce(s.status, 0), s.process_id, s.business_id,
           s.tenant,
           case when s.tags is not null then array(select json_array_elements_text(s.tags)) end, s.state,
           coalesce(s.variables, '{}')
    from s
    on conflict (key) do nothing
    returning key
), j as (
    insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                                run_at, created_at, owner, lease, attempt, retries, args, tenant)
    select n.key, coalesce(n.kind, 0),
           case when n.owner is not null then 1 when n.run_at > coalesce($13, now()) or n.delay_ms > 0 then 2 else 0 end,
           n.queue, n.type, n.instance, n.element_instance, n.element, n.definition, coalesce(n.priority, 0),
           coalesce(n.run_at, coalesce($13, now())) + coalesce(n.delay_ms, 0) * interval '1 millisecond', coalesce($13, now()),
           n.owner, case when n.owner is null then 0 else 1 end, case when n.owner is null then 0 else 1 end,
           n.retries, n.args, n.tenant
    from unnest($14::bigint[], $15::smallint[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::text[],
                $21::bigint[], $22::int[], $23::timestamptz[], $24::bigint[], $25::int[], $26::json[], $27::int[],
                $28::text[])
         as n (key, kind, queue, type, instance, element_instance, element, definition, priority, run_at, delay_ms,
               retries, args, owner, tenant)
    where n.instance in (select key from i)
), h as (
    insert into procession.history (instance, definition, at, events)
    select s.instance, s.definition, coalesce($13, now()), s.events
    from s
    where s.events is not null and s.instance in (select key from i)
)
select s.instance from s where s.instance not in (select key from i)
