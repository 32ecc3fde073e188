-- Take unique keys that nobody holds; the others stay as they are.
insert into procession.unique_key (tenant, key, job, until)
select u.tenant, u.key, u.job, u.until
from json_to_recordset($1::json) as u (tenant text, key text, job bigint, until bigint)
order by u.tenant collate "C", u.key collate "C"
on conflict (tenant, key) do nothing
