-- Slots that nobody can hold.
delete from procession.slot
where (limit_key, job) in (select u.limit_key, u.job from json_to_recordset($1::json) as u (limit_key text, job bigint))
