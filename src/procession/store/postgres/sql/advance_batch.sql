-- The guard of all that belongs to the next items. Answers with the jobs that were listed before.
with before as materialized (
    select key, jobs from procession.batch where key = $1::bigint and state = 0 and cursor = $2::bigint for update
)
update procession.batch b
set emitted = b.emitted + $4::int, cursor = $3::bigint, jobs = $5::bigint[],
    state = case when $6::boolean then 1 else b.state end,
    ended_at = case when $6::boolean then coalesce($7::timestamptz, now()) else b.ended_at end
from before
where b.key = before.key
returning before.jobs
