-- How many jobs there are per queue and state.
SELECT queue, state, COUNT(*) FROM procession_job WHERE :a = 0 GROUP BY queue, state
