DELETE FROM procession_node WHERE node IN (:nodes)
