-- Limits that nobody has used for long; the next job that names one brings its rule again.
delete from procession.limits
where key = any(array(
    select l.key
    from procession.limits l
    where greatest(l.reserved_us, l.started_us, l.moved_us) < $2::bigint
      and not exists (select from procession.slot s where s.limit_key = l.key)
      and not exists (select from procession.job j where j.waits_for = l.key and j.state = 4 and j.waits_for is not null)
    order by l.key
    limit ($1::json ->> 0)::bigint
    for update skip locked))
