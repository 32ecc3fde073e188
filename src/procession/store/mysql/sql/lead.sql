-- The answer's number is the term; it is set first, while the row still says who led.
UPDATE procession_leader
SET term = LAST_INSERT_ID(term + (node <> :node)), node = :node, `until` = @now + :term_ms
WHERE one = 1 AND (node = :node OR `until` <= @now)
    AND EXISTS (SELECT 1 FROM procession_node AS known WHERE known.node = :node)
