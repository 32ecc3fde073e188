-- The next instant at which a recurring job is due.
SELECT MIN(next_at) FROM procession_recurring WHERE paused = 0 AND next_at > 0 AND next_at > :a
