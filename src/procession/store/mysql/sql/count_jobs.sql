SELECT queue, state, COUNT(*) FROM procession_job WHERE (:tenant = '' OR tenant = :tenant) GROUP BY queue, state
