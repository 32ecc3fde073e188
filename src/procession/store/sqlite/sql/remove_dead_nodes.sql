DELETE FROM procession_node WHERE beat_at <= :beat_at RETURNING node
