-- What matching changed: subscriptions that are taken, messages that are used up or went to one more process id, start
-- channels that are held now, messages that are buffered, ids that count from now on.
with taken as (
    update procession.subscription set taken = true where key = any($1::bigint[])
), used as (
    delete from procession.message where key = any($2::bigint[])
), kept as (
    update procession.message
    set process_ids = array(select json_array_elements_text(k.process_ids))
    from unnest($3::bigint[], $4::json[]) as k (key, process_ids)
    where message.key = any($3) and message.key = k.key
), held as (
    insert into procession.start_channel (tenant, process_id, correlation_key, instance)
    select * from unnest($5::text[], $6::text[], $7::text[], $8::bigint[])
), buffered as (
    insert into procession.message (key, published_at, expires_at, tenant, name, correlation_key, message_id,
                                    process_id, process_ids, variables)
    select b.key, coalesce($18::timestamptz, now()), b.expires_at, coalesce(b.tenant, ''), b.name,
           coalesce(b.correlation_key, ''), coalesce(b.message_id, ''), coalesce(b.process_id, ''),
           array(select json_array_elements_text(coalesce(b.process_ids, '[]'))), b.variables
    from unnest($9::bigint[], $10::timestamptz[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
                $16::json[], $17::json[])
         as b (key, expires_at, tenant, name, correlation_key, message_id, process_id, process_ids, variables)
    -- offered again while others may still want it
    on conflict (key) do update set process_ids = excluded.process_ids
)
insert into procession.message_id (tenant, name, correlation_key, message_id, message, expires_at)
select i.tenant, i.name, i.correlation_key, i.message_id, i.message, i.expires_at
from unnest($19::text[], $20::text[], $21::text[], $22::text[], $23::bigint[], $24::timestamptz[])
     as i (tenant, name, correlation_key, message_id, message, expires_at)
on conflict (tenant, name, correlation_key, message_id)
    do update set message = excluded.message, expires_at = excluded.expires_at
