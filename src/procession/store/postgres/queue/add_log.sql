-- Lines of logs.
insert into procession.job_log (job, number, at, level, text)
select u.job, u.number, u.at, u.level, u.text
from json_to_recordset($1::json) as u (job bigint, number int, at bigint, level int, text text)
