-- Of the attempts of a job only the last so many are kept.
delete from procession.job_attempt as old
using (
    select job, lease, row_number() over (partition by job order by lease desc) as place
    from procession.job_attempt
    where job = any(array(select value::bigint from json_array_elements_text($1::json)))
) as numbered
where numbered.place > $2 and old.job = numbered.job and old.lease = numbered.lease
