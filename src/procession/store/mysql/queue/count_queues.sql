-- How many jobs there are per queue and state. There is no bound here: a group cannot be cut short.
SELECT queue, state, COUNT(*) FROM procession_job FORCE INDEX (ready) WHERE :a > 0 GROUP BY state, queue
