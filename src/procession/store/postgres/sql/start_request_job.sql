-- For a connection that is not ours: the follow-up that starts the requested instance.
insert into procession.job (key, kind, state, queue, type, instance, definition, priority, run_at, created_at, lease,
                            attempt, retries, args, tenant)
select cast(:job as bigint), 4, 0, '$follow-up', '', cast(:instance as bigint), cast(:definition as bigint), 0,
       coalesce(to_timestamp(cast(:now as bigint) / 1000.0), now()),
       coalesce(to_timestamp(cast(:now as bigint) / 1000.0), now()), 0, 0, 3, cast(:command as json),
       nullif(cast(:tenant as text), '')
