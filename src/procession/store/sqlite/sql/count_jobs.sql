SELECT queue, state, count(*) FROM procession_job GROUP BY queue, state
