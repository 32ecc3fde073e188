INSERT INTO procession_node (name, started_at, beat_at, details) VALUES (:name, @now, @now, :details)
