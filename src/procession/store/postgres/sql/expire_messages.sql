-- Delete messages and message ids whose time to live is over; answers with the messages.
with old_ids as materialized (
    select tenant, name, correlation_key, message_id
    from procession.message_id
    where expires_at <= coalesce($2::timestamptz, now())
    order by expires_at
    limit $1
    for update skip locked
), forgotten as (
    delete from procession.message_id i
    using old_ids o
    where i.tenant = o.tenant and i.name = o.name and i.correlation_key = o.correlation_key
      and i.message_id = o.message_id
), old as materialized (
    select key
    from procession.message
    where expires_at <= coalesce($2, now())
    order by expires_at
    limit $1
    for update skip locked
)
delete from procession.message where key = any(array(select key from old)) returning key
