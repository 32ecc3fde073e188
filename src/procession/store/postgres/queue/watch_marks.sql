-- Numbers that differ when something changed.
select (select coalesce(max(h.txid::text::bigint), 0) from (
           select txid from procession.history order by txid desc, position desc limit 1
       ) h) + coalesce((select last_value from procession.history_position_seq), 0) + ($1::json ->> 0)::bigint,
       coalesce((select max(key) from procession.instance), 0),
       coalesce((select max(key) from procession.job), 0),
       coalesce((select max(key) from procession.incident), 0),
       coalesce((select max(key) from procession.user_task), 0),
       coalesce((select sum(emitted + state + 1)::bigint from (
           select emitted, state from procession.batch order by key desc limit 100
       ) b), 0),
       coalesce((select max(key) from procession.deployment), 0) + (select count(*) from procession.definition),
       coalesce((select sum(version)::bigint + count(*) from procession.recurring), 0),
       coalesce((select max(node) + count(*) from procession.node), 0)
