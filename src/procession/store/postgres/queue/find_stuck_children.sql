-- Children that wait though nothing holds them up: the parent that has ended and its state, or 0.
select d.child, d.parent, d.either, d.state
from (
    select c.key as child, d.parent, d.either,
           coalesce(j.state, a.state,
                    case when b.key is null then 7 when b.state <> 2 then 1
                         when b.deleted > 0 then 8 when b.failed > 0 then 5 else 7 end)
               as state
    from procession.job c
    join procession.dependency d on d.child = c.key and not d.resolved
    left join procession.job j on j.key = d.parent
    left join procession.job_archive a on a.key = d.parent
    left join procession.job_batch b on b.key = d.parent
    where c.state = 3
    union all
    select c.key, 0, false, 7
    from procession.job c
    where c.state = 3 and not exists (select from procession.dependency d where d.child = c.key and not d.resolved)
) d
where d.state in (7, 8) or (d.state = 5 and d.either)
order by d.child, d.parent
limit ($1::json ->> 0)::bigint
