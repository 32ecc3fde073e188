-- commit_step.sql for steps that are alike: of one definition, each closes at most one job and opens at most one, and
-- the jobs that are opened differ by nothing but their keys. What is shared comes once, as a plain value. Answers with the
-- steps that did not apply, and whether a fence may have been the reason: whoever asks compares revisions.
with s as materialized (
    select u.instance, u.rev, u.status, substring($5::bytea from u.state_at for u.state_length) as state,
           u.variables::jsonb as variables, u.events::json as events, u.job, u.lease, u.opened, u.element_instance
    from unnest($1::text::bigint[], $2::text::int[], $4::text::smallint[], $6::text::int[], $7::text::int[],
                string_to_array($8::text, E'\n', ''), string_to_array($9::text, E'\n', ''),
                $11::text::bigint[], $12::text::int[], $13::text::bigint[], $14::text::bigint[])
         as u (instance, rev, status, state_at, state_length, variables, events, job, lease, opened, element_instance)
), i as (
    update procession.instance
    set rev = s.rev + 1, definition = $3::bigint, status = s.status, state = s.state,
        variables = coalesce(s.variables, instance.variables),
        ended_at = case when s.status in (1, 2) then coalesce($10::timestamptz, now()) end
    from s
    left join procession.job held
           on held.key = any($11::text::bigint[]) and held.key = s.job and held.lease = s.lease
              and (held.state = 1 or (held.state = 2 and held.owner = -1))
    where instance.key = any($1::text::bigint[]) and instance.key = s.instance and instance.rev = s.rev
      and (held.key is not null or s.lease is null or s.lease = 0)
    returning instance.key, s.job
), d as (
    delete from procession.job where key = any(array(select i.job from i))
), j as (
    insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                                run_at, created_at, owner, lease, attempt, retries, tenant)
    select s.opened, $15::smallint, case when $21::int is null then 0 else 1 end, $16::text, $17::text, s.instance,
           s.element_instance, $18::text, $3, $19::int, coalesce($10, now()), coalesce($10, now()),
           $21, case when $21 is null then 0 else 1 end, case when $21 is null then 0 else 1 end, $20::int,
           nullif($22::text, '')
    from s
    where s.opened is not null and s.instance in (select key from i)
), h as (
    insert into procession.history (instance, definition, at, events)
    select s.instance, $3, coalesce($10, now()), s.events
    from s
    where s.events is not null and s.instance in (select key from i)
)
select s.instance, coalesce(s.lease, 0) > 0
from s
where s.instance not in (select key from i)
