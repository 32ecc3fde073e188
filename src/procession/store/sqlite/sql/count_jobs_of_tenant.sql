SELECT queue, state, count(*) FROM procession_job WHERE tenant = :tenant GROUP BY queue, state
