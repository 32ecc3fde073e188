-- Messages that are offered again while they are still buffered for others.
select key, process_id as only, process_ids from procession.message where key = any($1::bigint[])
