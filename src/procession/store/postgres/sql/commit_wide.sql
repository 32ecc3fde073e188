-- Steps of any shape in one statement: new and existing instances, and everything that waits. The guard is that of
-- commit_step.sql; a requested instance (rev 0) has a row already. Rare rows come as JSON with the names of rows.py.
with s as materialized (
    select u.instance, coalesce(u.rev, ($2)[1]) as rev, coalesce(u.definition, ($3)[1]) as definition,
           coalesce(u.status, ($4)[1]) as status, coalesce(u.state, ($5)[1]) as state, u.variables, u.events
    from unnest($1::bigint[], $2::int[], $3::bigint[], $4::smallint[], $5::bytea[], $6::jsonb[], $7::json[])
         as u (instance, rev, definition, status, state, variables, events)
), f as materialized (
    select * from unnest($9::bigint[], $10::int[], $11::bigint[]) as u (job, lease, instance)
), c as materialized (
    select *
    from json_to_recordset($20)
         as u (instance bigint, key bigint, state smallint, lease int, retries int, error text)
), fenced as materialized (
    select f.instance
    from f
    left join (select key, lease from procession.job where key = any($9) and (state = 1 or (state = 2 and owner = -1))) held
           on held.key = f.job and held.lease = f.lease
    where f.lease > 0 and held.key is null
    union all
    select c.instance
    from c
    left join (select key, lease from procession.job
               where key = any(array(select key from c)) and (state = 1 or (state = 2 and owner = -1))) held
           on held.key = c.key and held.lease = c.lease
    where c.lease > 0 and held.key is null
), o as materialized (
    select *
    from json_to_recordset($21)
         as u (instance bigint, process_id text, business_id text, parent bigint, parent_element_instance bigint,
               tags text[], tenant text, start_channel text, release_channel text)
), new as (
    insert into procession.instance (key, definition, parent, parent_element_instance, started_at, ended_at, rev, status,
                                     process_id, business_id, tenant, tags, state, variables)
    select s.instance, s.definition, o.parent, o.parent_element_instance, coalesce($8::timestamptz, now()),
           case when s.status in (1, 2) then coalesce($8, now()) end, 1, s.status, o.process_id, o.business_id, o.tenant,
           o.tags, s.state, coalesce(s.variables, '{}')
    from s
    join o on o.instance = s.instance
    where s.rev < 0 and s.instance not in (select instance from fenced)
    on conflict (key) do nothing
    returning key
), old as (
    update procession.instance
    set rev = s.rev + 1, definition = s.definition, process_id = o.process_id, status = s.status,
        state = s.state, variables = coalesce(s.variables, instance.variables),
        ended_at = case when s.status in (1, 2) then coalesce($8, now()) end,
        business_id = coalesce(o.business_id, instance.business_id),
        parent = case when s.rev = 0 then coalesce(o.parent, instance.parent) else instance.parent end,
        parent_element_instance = case when s.rev = 0
                                  then coalesce(o.parent_element_instance, instance.parent_element_instance)
                                  else instance.parent_element_instance end,
        tenant = case when s.rev = 0 then coalesce(o.tenant, instance.tenant) else instance.tenant end,
        tags = case when s.rev = 0 then coalesce(o.tags, instance.tags) else instance.tags end
    from s
    join o on o.instance = s.instance
    where instance.key = any($1) and instance.key = s.instance and instance.rev = s.rev
      and s.instance not in (select instance from fenced)
    returning instance.key, instance.tenant, instance.process_id
), i as materialized (
    select key from new union all select key from old
), d as (
    delete from procession.job where key = any(array(select f.job from f where f.instance in (select key from i)))
), j as (
    insert into procession.job (key, kind, state, queue, type, instance, element_instance, element, definition, priority,
                                run_at, created_at, owner, lease, attempt, retries, args, tenant)
    select n.key, t.kind,
           case when t.owner is not null then 1 when n.run_at > coalesce($8, now()) or n.delay_ms > 0 then 2 else 0 end,
           t.queue, t.type, n.instance, n.element_instance, t.element, t.definition, t.priority,
           coalesce(n.run_at, coalesce($8, now())) + coalesce(n.delay_ms, 0) * interval '1 millisecond', coalesce($8, now()),
           t.owner, case when t.owner is null then 0 else 1 end, case when t.owner is null then 0 else 1 end,
           t.retries, n.args, t.tenant
    from unnest($12::bigint[], $13::bigint[], $14::bigint[], $15::int[], $16::timestamptz[], $17::bigint[], $18::json[])
         as n (key, instance, element_instance, likeness, run_at, delay_ms, args)
    join rows from (json_to_recordset($19)
                    as (kind smallint, queue text, type text, element text, definition bigint, priority int, retries int,
                        owner int, tenant text))
         with ordinality as t (kind, queue, type, element, definition, priority, retries, owner, tenant, number)
      on t.number = n.likeness
    -- The next firing of a start timer belongs to no instance: it goes with the step that writes it.
    where coalesce(n.instance, (select x.instance from json_to_recordset($29) as x (instance bigint, key bigint)
                                where x.key = n.key)) in (select key from i)
), h as (
    insert into procession.history (instance, definition, at, events)
    select s.instance, s.definition, coalesce($8, now()), s.events
    from s
    where s.events is not null and s.instance in (select key from i)
), jobs_changed as (
    update procession.job
    set state = c.state,
        retries = case when coalesce(c.retries, -1) < 0 then job.retries else c.retries end,
        crashes = case when coalesce(c.retries, -1) < 0 then job.crashes else 0 end,
        error = coalesce(nullif(c.error, ''), job.error),
        owner = case when c.state = 1 then job.owner end
    from c
    where job.key = any(array(select key from c)) and job.key = c.key and c.instance in (select key from i)
), subscribed as (
    insert into procession.subscription (key, instance, element_instance, definition, trigger, once, tenant, name,
                                         correlation_key, process_id, element)
    select x.key, x.instance, x.element_instance, s.definition, x.trigger, coalesce(x.once, true), coalesce(x.tenant, ''),
           x.name, coalesce(x.correlation_key, ''), x.process_id, x.element
    from json_to_recordset($22)
         as x (key bigint, instance bigint, element_instance bigint, trigger smallint, once boolean, tenant text,
               name text, correlation_key text, process_id text, element text)
    join s on s.instance = x.instance
    where x.instance in (select key from i)
), unsubscribed as (
    delete from procession.subscription
    where key = any(array(select x.key from json_to_recordset($23) as x (instance bigint, key bigint)
                          where x.instance in (select key from i)))
), raised as (
    insert into procession.incident (key, instance, element_instance, definition, job, created_at, process_id, element,
                                     kind, message, fingerprint, tenant)
    select x.key, x.instance, x.element_instance, x.definition, x.job, coalesce($8, now()), x.process_id, x.element,
           x.kind, x.message, coalesce(x.fingerprint, ''), x.tenant
    from json_to_recordset($24)
         as x (key bigint, instance bigint, element_instance bigint, definition bigint, job bigint, process_id text,
               element text, kind text, message text, fingerprint text, tenant text)
    where x.instance in (select key from i)
), settled as (
    delete from procession.incident
    where key = any(array(select x.key from json_to_recordset($25) as x (instance bigint, key bigint)
                          where x.instance in (select key from i)))
), assigned as (
    insert into procession.user_task (key, instance, element_instance, definition, created_at, due_at, follow_up_at,
                                      priority, process_id, element, name, assignee, form_key, candidate_users,
                                      candidate_groups, tenant, form)
    select x.key, x.instance, x.element_instance, x.definition, coalesce($8, now()),
           to_timestamp(nullif(x.due_at, 0) / 1000.0), to_timestamp(nullif(x.follow_up_at, 0) / 1000.0),
           coalesce(x.priority, 50), x.process_id, x.element, coalesce(x.name, ''), coalesce(x.assignee, ''),
           coalesce(x.form_key, ''), coalesce(x.candidate_users, '{}'), coalesce(x.candidate_groups, '{}'), x.tenant,
           coalesce(x.form, 0)
    from json_to_recordset($26)
         as x (key bigint, instance bigint, element_instance bigint, definition bigint, due_at bigint,
               follow_up_at bigint, priority int, process_id text, element text, name text, assignee text, form_key text,
               candidate_users text[], candidate_groups text[], tenant text, form bigint)
    where x.instance in (select key from i)
), t as materialized (
    select * from json_to_recordset($27) as x (instance bigint, key bigint, changes jsonb)
), reassigned as (
    update procession.user_task
    set name = coalesce(t.changes ->> 'name', user_task.name),
        assignee = coalesce(t.changes ->> 'assignee', user_task.assignee),
        form_key = coalesce(t.changes ->> 'form_key', user_task.form_key),
        priority = coalesce((t.changes ->> 'priority')::int, user_task.priority),
        due_at = case when t.changes ? 'due_at' then to_timestamp(nullif((t.changes ->> 'due_at')::bigint, 0) / 1000.0)
                 else user_task.due_at end,
        follow_up_at = case when t.changes ? 'follow_up_at'
                       then to_timestamp(nullif((t.changes ->> 'follow_up_at')::bigint, 0) / 1000.0)
                       else user_task.follow_up_at end,
        candidate_users = case when t.changes ? 'candidate_users'
                          then array(select jsonb_array_elements_text(t.changes -> 'candidate_users'))
                          else user_task.candidate_users end,
        candidate_groups = case when t.changes ? 'candidate_groups'
                           then array(select jsonb_array_elements_text(t.changes -> 'candidate_groups'))
                           else user_task.candidate_groups end
    from t
    where user_task.key = any(array(select key from t)) and user_task.key = t.key and t.instance in (select key from i)
), done as (
    delete from procession.user_task
    where key = any(array(select x.key from json_to_recordset($28) as x (instance bigint, key bigint)
                          where x.instance in (select key from i)))
), held as (
    -- A message that started the instance holds the channel for it already. Another holder: the step is refused.
    insert into procession.start_channel (tenant, process_id, correlation_key, instance)
    select coalesce(o.tenant, ''), o.process_id, o.start_channel, o.instance
    from o
    join s on s.instance = o.instance
    where o.start_channel is not null and s.rev <= 0 and o.instance in (select key from i)
      and not exists (
          select from procession.start_channel h
          where h.tenant = coalesce(o.tenant, '') and h.process_id = o.process_id
            and h.correlation_key = o.start_channel and h.instance = o.instance)
), released as (
    delete from procession.start_channel h
    using o, old
    where o.release_channel is not null and old.key = o.instance
      and h.tenant = coalesce(old.tenant, '') and h.process_id = old.process_id
      and h.correlation_key = o.release_channel and h.instance = o.instance
)
select s.instance, s.instance in (select instance from fenced)
from s
where s.instance not in (select key from i)
