-- Ended instances whose caller is gone or never was, with all that they called; none of a tree in which one still runs.
WITH RECURSIVE tree (root, `key`, runs) AS (
    SELECT root.`key`, root.`key`, root.status NOT IN (1, 2)
    FROM procession_instance AS root
    WHERE root.`key` IN (:keys)
        AND NOT EXISTS (SELECT 1 FROM procession_instance AS caller WHERE caller.`key` = root.parent)
    UNION ALL
    SELECT tree.root, child.`key`, child.status NOT IN (1, 2)
    FROM tree
    JOIN procession_instance AS child ON child.parent = tree.`key` AND child.parent <> 0
)
SELECT tree.root, tree.`key`
FROM tree
WHERE tree.root NOT IN (SELECT running.root FROM tree AS running WHERE running.runs)
ORDER BY tree.root, tree.`key`
