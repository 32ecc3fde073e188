-- Unique keys that nobody can hold.
delete from procession.unique_key
where (tenant, key) in (select u.tenant, u.key from json_to_recordset($1::json) as u (tenant text, key text))
