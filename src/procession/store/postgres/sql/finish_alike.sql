-- finish_done.sql for runs whose leases have the same number, as those of jobs that run for the first time: nothing has to be
-- joined. For each of 500 jobs 1.8 us of the database, where finish_done.sql takes 2.2 us.
delete from procession.job
where key = any($1::text::bigint[]) and lease = $2
      and (state = 1 or (state = 2 and owner = -1))
      and traits is null
returning key
