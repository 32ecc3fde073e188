SELECT node FROM procession_node
