-- How many jobs there are per queue and state, each up to a bound: where a row stands beyond it, nothing is counted.
SELECT k.queue, k.state,
       IF((SELECT 1 FROM procession_job AS j FORCE INDEX (ready)
           WHERE j.state = k.state AND j.queue = k.queue LIMIT 1 OFFSET :a) IS NULL,
          (SELECT COUNT(*) FROM procession_job AS j FORCE INDEX (ready) WHERE j.state = k.state AND j.queue = k.queue),
          :a + 1)
FROM (SELECT DISTINCT state, queue FROM procession_job FORCE INDEX (ready)) AS k
