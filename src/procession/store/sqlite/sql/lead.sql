UPDATE procession_leader
SET term = term + (node <> :node), node = :node, until = :now + :term_ms
WHERE (node = :node OR until <= :now) AND EXISTS (SELECT 1 FROM procession_node AS node WHERE node.node = :node)
RETURNING term
