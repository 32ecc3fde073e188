-- Limited jobs that may start are leased.
update procession.job
set state = 1, owner = $2::int, lease = lease + 1, attempt = attempt + 1
where key = any(array(select value::bigint from json_array_elements_text($1::json)))
