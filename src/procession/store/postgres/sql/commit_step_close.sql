-- commit_step_alike.sql for steps that open no job. A part that has nothing to do costs as much as another: without it the
-- statement costs the database 145 instead of 176 us for one step.
with s as materialized (
    select u.instance, u.rev, u.status, substring($5::bytea from u.state_at for u.state_length) as state,
           u.variables::jsonb as variables, u.events::json as events, u.job, u.lease
    from unnest($1::text::bigint[], $2::text::int[], $4::text::smallint[], $6::text::int[], $7::text::int[],
                string_to_array($8::text, E'\n', ''), string_to_array($9::text, E'\n', ''),
                $11::text::bigint[], $12::text::int[])
         as u (instance, rev, status, state_at, state_length, variables, events, job, lease)
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
), h as (
    insert into procession.history (instance, definition, at, events)
    select s.instance, $3, coalesce($10, now()), s.events
    from s
    where s.events is not null and s.instance in (select key from i)
)
select s.instance, coalesce(s.lease, 0) > 0
from s
where s.instance not in (select key from i)
