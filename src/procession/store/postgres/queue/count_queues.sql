-- How many jobs there are per queue and state.
select queue, state, count(*) from procession.job where ($1::json ->> 0)::bigint = 0 group by queue, state
