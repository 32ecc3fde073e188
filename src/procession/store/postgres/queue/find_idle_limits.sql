-- Limits with free slots and jobs that wait for one, but nobody who tries: how many should.
with trying as materialized (
    select distinct x.value ->> 'key' as key
    from procession.job j
    cross join lateral json_array_elements(j.options -> 'limits') as x (value)
    where j.state = 4 and j.waits_for is null
), l as materialized (
    select l.key, l.most, (select count(*) from procession.slot s where s.limit_key = l.key) as used,
           (select count(*) from procession.job j
            where j.waits_for = l.key and j.state = 4 and j.waits_for is not null) as parked
    from procession.limits l
)
select l.key, (case when l.most > 0 then least(l.most - l.used, l.parked) else l.parked end)::int
from l
where l.parked > 0 and (l.most = 0 or l.used < l.most) and l.key not in (select key from trying)
order by l.key
limit ($1::json ->> 0)::bigint
