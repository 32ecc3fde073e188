-- Steps of existing instances: jobs closed and opened, history. Answers with the steps that did not apply, and whether a
-- fence was the reason. Why this is safe under READ COMMITTED: see _commit.py. Columns: as in commit_start.sql.
with s as materialized (
    select u.instance, u.rev, u.definition, u.status, substring($5::bytea from u.state_at for u.state_length) as state,
           u.variables::jsonb as variables, u.events::json as events
    from unnest($1::text::bigint[], $2::text::int[], $3::text::bigint[], $4::text::smallint[], $6::text::int[],
                $7::text::int[], string_to_array($8::text, E'\n', ''), string_to_array($9::text, E'\n', ''))
         as u (instance, rev, definition, status, state_at, state_length, variables, events)
), f as materialized (
    select * from unnest($11::text::bigint[], $12::text::int[], $13::text::bigint[]) as u (job, lease, instance)
), fenced as materialized (
    select f.instance
    from f
    left join (select key, lease from procession.job where key = any($11::text::bigint[]) and (state = 1 or (state = 2 and owner = -1))) held
           on held.key = f.job and held.lease = f.lease
    where f.lease > 0 and held.key is null
), i as (
    update procession.instance
    set rev = s.rev + 1, definition = s.definition, status = s.status, state = s.state,
        variables = coalesce(s.variables, instance.variables),
        ended_at = case when s.status in (1, 2) then coalesce($10::timestamptz, now()) end
    from s
    where instance.key = any($1::text::bigint[]) and instance.key = s.instance and instance.rev = s.rev
      and s.instance not in (select instance from fenced)
    returning instance.key
), d as (
    delete from procession.job where key = any(array(select f.job from f where f.instance in (select key from i)))
), j as (
    insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                                run_at, created_at, owner, lease, attempt, retries, args, tenant)
    select n.key, t.kind,
           case when t.owner is not null then 1 when n.run_at > coalesce($10, now()) or n.delay_ms > 0 then 2 else 0 end,
           t.queue, t.type, n.instance, n.element_instance, t.element, t.definition, t.priority,
           coalesce(n.run_at, coalesce($10, now())) + coalesce(n.delay_ms, 0) * interval '1 millisecond', coalesce($10, now()),
           t.owner, case when t.owner is null then 0 else 1 end, case when t.owner is null then 0 else 1 end,
           t.retries, n.args, t.tenant
    from unnest($14::text::bigint[], $15::text::bigint[], $16::text::bigint[], $17::text::int[], $18::timestamptz[],
                $19::bigint[], $20::json[])
         as n (key, instance, element_instance, likeness, run_at, delay_ms, args)
    join rows from (json_to_recordset($21)
                    as (kind smallint, queue text, type text, element text, definition bigint, priority int, retries int,
                        owner int, tenant text))
         with ordinality as t (kind, queue, type, element, definition, priority, retries, owner, tenant, number)
      on t.number = n.likeness
    where n.instance in (select key from i)
), h as (
    insert into procession.history (instance, definition, at, events)
    select s.instance, s.definition, coalesce($10, now()), s.events
    from s
    where s.events is not null and s.instance in (select key from i)
)
select s.instance, s.instance in (select instance from fenced)
from s
where s.instance not in (select key from i)
