-- Counts that are older than they are kept.
delete from procession.job_stat
where ctid = any(array(
    select ctid from procession.job_stat where minute < $2::bigint order by minute limit ($1::json ->> 0)::bigint for update skip locked))
