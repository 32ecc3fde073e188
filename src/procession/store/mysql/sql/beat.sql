UPDATE procession_node SET beat_at = @now WHERE node = :node
