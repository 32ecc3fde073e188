-- How many jobs there are per queue and state.
select queue, state, count(*) from procession.job group by queue, state
