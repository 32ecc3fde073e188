-- These are claimed again.
delete from procession.pause
where (kind, name) in (select u.kind, u.name from json_to_recordset($1::json) as u (kind smallint, name text))
