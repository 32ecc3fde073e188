-- How many jobs there are per queue and state.
SELECT queue, state, count(*) FROM procession_job WHERE json_extract(?1, '$[0]') = 0 GROUP BY queue, state
