-- The keys of jobs in these states, by the index of each state: at most so many. READY ones of one queue,
-- if it is named, and RUNNING ones of one process.
with w as materialized (
    select array(select value::int from json_array_elements_text(w.states)) as states, w.queue, w.owner, w.most
    from json_to_record($1::json -> 0) as w (states json, queue text, owner int, most int)
)
select key from (
    (select key from procession.job where state = 0 and 0 = any((select states from w)::int[]) and queue = (select queue from w) and (select queue from w) <> '' order by priority desc, run_at, key limit (select most from w))
    union all (select key from procession.job where state = 0 and 0 = any((select states from w)::int[]) and (select queue from w) = '' order by queue, priority desc, run_at, key limit (select most from w))
    union all (select key from procession.job where state = 1 and 1 = any((select states from w)::int[]) and ((select owner from w) = 0 or owner = (select owner from w)) order by owner limit (select most from w))
    union all (select key from procession.job where state = 2 and 2 = any((select states from w)::int[]) order by run_at limit (select most from w))
    union all (select key from procession.job where state = 3 and 3 = any((select states from w)::int[]) order by key limit (select most from w))
    union all (select key from procession.job where state = 4 and waits_for is null and 4 = any((select states from w)::int[]) order by queue, run_at, key limit (select most from w))
    union all (select key from procession.job where state = 4 and waits_for is not null and 4 = any((select states from w)::int[]) order by waits_for, priority desc, run_at, key limit (select most from w))
    union all (select key from procession.job where state = 5 and 5 = any((select states from w)::int[]) order by key limit (select most from w))
    union all (select key from procession.job where state = 6 and 6 = any((select states from w)::int[]) order by key limit (select most from w))
) found
limit (select most from w)
