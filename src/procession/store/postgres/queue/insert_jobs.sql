-- Jobs with their options. One that is there already stays as it is.
insert into procession.job (key, kind, state, queue, type, priority, run_at, created_at, owner, lease, attempt, retries,
                            tenant, args, traits, options, batch, deadline_at, waits_for)
select u.key, u.kind, u.state, u.queue, u.type, u.priority, timestamptz 'epoch' + u.run_at * interval '1 millisecond',
       timestamptz 'epoch' + u.created_at * interval '1 millisecond', u.owner, case when u.owner is null then 0 else 1 end,
       case when u.owner is null then 0 else 1 end, u.retries, u.tenant, nullif(u.args, '')::json, u.traits, u.options::json, u.batch,
       u.deadline_at, u.waits_for
from json_to_recordset($1::json)
     as u (key bigint, kind smallint, state smallint, owner int, queue text, type text, priority int, run_at bigint,
           retries int, created_at bigint, tenant text, args text, traits int, options text, batch bigint,
           deadline_at bigint, waits_for text)
on conflict (key) do nothing
