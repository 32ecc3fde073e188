-- enqueue.sql for jobs that differ by nothing but their keys and arguments, none of which is there already: one that is makes
-- the statement fail, as in commit_start.sql. What is the same for all of them is computed once, by queries of its own. Many
-- jobs are copied instead (_alike.py): for each of 10,000 that takes 2.7 us of the database and 251 bytes of log, this
-- statement 3.2 us and 297 bytes, the general one 5.4 us and 380 bytes.
insert into procession.job (key, kind, state, queue, type, priority, run_at, created_at, owner, lease, attempt, retries,
                            args, tenant)
select n.key, $4::smallint,
       (select case when $10::int is not null then 1
                    when $8::timestamptz > coalesce($3::timestamptz, now()) or $9::bigint > 0 then 2 else 0 end),
       $5::text, $6::text, $7::int,
       (select coalesce($8, $3, now()) + $9 * interval '1 millisecond'), (select coalesce($3, now())),
       $10, $11::int, $11, $12::int, n.args::json, nullif($13::text, '')
from unnest($1::text::bigint[], string_to_array($2::text, E'\n', '')) as n (key, args)
