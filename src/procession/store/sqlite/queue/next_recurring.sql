-- The next instant at which a recurring job is due.
SELECT min(next_at) FROM procession_recurring WHERE paused = 0 AND next_at > 0 AND next_at > json_extract(?1, '$[0]')
