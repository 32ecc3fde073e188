-- How many jobs there are per queue and state.
select queue, state, count(*) from procession.job where $1 = '' or tenant = $1 group by queue, state
