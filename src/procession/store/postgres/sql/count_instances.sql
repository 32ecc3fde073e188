-- How many instances there are per status.
select status, count(*) from procession.instance where $1 = '' or process_id = $1 group by status
