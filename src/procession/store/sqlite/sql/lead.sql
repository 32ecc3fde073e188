UPDATE leader
SET term = term + (node <> :node), node = :node, until = :now + :term_ms
WHERE (node = :node OR until <= :now) AND EXISTS (SELECT 1 FROM node WHERE node.node = :node)
RETURNING term
