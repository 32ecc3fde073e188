-- How many jobs wait for a slot of these limits, each up to a bound, and how many of the first that are in line for a start.
select key, sum(waiting)::bigint
from (
    select k.value as key,
           (select count(*)
            from (select from procession.job j
                  where j.state = 4 and j.waits_for is not null and j.waits_for = k.value limit $2::int) parked) as waiting
    from json_array_elements_text($1::json) as k (value)
    union all
    select l.value ->> 'key', count(*)
    from (select options from procession.job
          where state = 4 and waits_for is null order by queue, run_at, key limit $2::int) j
    cross join lateral json_array_elements(j.options -> 'limits') as l (value)
    where l.value ->> 'key' = any(array(select value from json_array_elements_text($1::json)))
    group by 1
) counted
group by key
having sum(waiting) > 0
