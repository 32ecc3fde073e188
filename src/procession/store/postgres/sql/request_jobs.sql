-- For a connection that is not ours: plain jobs, which are there when the caller's transaction commits.
insert into procession.job (key, kind, state, queue, type, instance, priority, run_at, created_at, lease, attempt, retries,
                            args, tenant)
select t.key, 0,
       case when t.delay_ms > 0 or t.run_at > cast(extract(epoch from coalesce(to_timestamp(cast(:now as bigint) / 1000.0), now())) * 1000 as bigint)
            then 2 else 0 end,
       t.queue, t.type, null, t.priority,
       case when t.run_at > 0 then to_timestamp(t.run_at / 1000.0)
            else coalesce(to_timestamp(cast(:now as bigint) / 1000.0), now()) + t.delay_ms * interval '1 millisecond' end,
       coalesce(to_timestamp(cast(:now as bigint) / 1000.0), now()), 0, 0, t.retries, cast(t.args as json),
       nullif(t.tenant, '')
from json_to_recordset(cast(:jobs as json))
     as t (key bigint, queue text, type text, priority int, run_at bigint, delay_ms bigint, retries int, args text, tenant text)
