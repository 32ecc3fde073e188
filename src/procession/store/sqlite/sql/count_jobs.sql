SELECT queue, state, count(*) FROM job GROUP BY queue, state
