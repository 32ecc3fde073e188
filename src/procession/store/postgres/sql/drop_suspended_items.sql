delete from procession.job
where state = 6 and key = any((select jobs from procession.batch where key = $1::bigint for update)::bigint[])
returning key
