-- Delete messages and message ids whose time to live is over; answers with the messages.
with forgotten as (
    -- By place: the rows are locked, so they stay where they are.
    delete from procession.message_id
    where ctid = any(array(
        select ctid
        from procession.message_id
        where expires_at <= coalesce($2::timestamptz, now())
        order by expires_at
        limit $1
        for update skip locked))
), old as materialized (
    select key
    from procession.message
    where expires_at <= coalesce($2, now())
    order by expires_at
    limit $1
    for update skip locked
)
delete from procession.message where key = any(array(select key from old)) returning key
