DELETE FROM procession_node WHERE node = :node
