SELECT node FROM procession_node WHERE beat_at <= @now - :dead_after_ms ORDER BY node FOR UPDATE
