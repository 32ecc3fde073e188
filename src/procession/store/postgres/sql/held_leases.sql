-- The leases under which jobs run.
select key, lease from procession.job where key = any($1::bigint[]) and state = 1
