-- A pair for each instance that differs when it, or a job of it, changed.
select i.key, i.rev,
       coalesce((select sum(j.lease + j.attempt + 1000 * j.state + 100000)::bigint
                 from procession.job j where j.instance = i.key), 0)
from procession.instance i
where i.key = any(array(select value::bigint from json_array_elements_text($1::json)))
