-- For a connection that is not ours: an instance that exists, not yet started, when the caller's transaction commits.
insert into procession.instance (key, definition, started_at, rev, status, process_id, business_id, tenant, tags, state,
                                 variables)
select cast(:instance as bigint), cast(:definition as bigint),
       coalesce(to_timestamp(cast(:now as bigint) / 1000.0), now()), 0, 0, cast(:process_id as text),
       nullif(cast(:business_id as text), ''), nullif(cast(:tenant as text), ''),
       (select array_agg(tag) from json_array_elements_text(cast(:tags as json)) as t (tag)), '',
       cast(:variables as jsonb)
