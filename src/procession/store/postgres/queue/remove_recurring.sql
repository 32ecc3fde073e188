-- Recurring jobs that are no more.
delete from procession.recurring
where (tenant, name) in (select u.tenant, u.name from json_to_recordset($1::json) as u (tenant text, name text))
