SELECT DISTINCT channel FROM procession_message WHERE channel IN (:channels) AND expires_at > @now
