SELECT DISTINCT channel
FROM procession_message FORCE INDEX (channel)
WHERE channel IN (:channels) AND expires_at > @now
