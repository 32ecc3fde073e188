-- Change a job where it is: -1 and null leave things as they are. Answers with its key where it applies. The priority of
-- one that ages (64) is its place in line: it stays.
update procession.job
set run_at = case when $3::bigint >= 0 then coalesce($6::timestamptz, now()) + $3 * interval '1 millisecond'
             else run_at end,
    retries = case when $4::int >= 0 then $4 else retries end,
    priority = coalesce($5::int, priority)
where key = $1::bigint
  and ($2::int = 0 or (lease = $2 and (state = 1 or (state = 2 and owner = -1))))
  and ($3 < 0 or (state = 2 and owner = -1))
  and ($5::int is null or coalesce(traits, 0) & 64 = 0)
returning key
