-- How many instances there are per status.
select status, count(*) from procession.instance where ($1 = '' or process_id = $1) and ($2 = '' or tenant = $2)
group by status
