SELECT
    node, name, started_at, beat_at,
    (SELECT count(*) FROM job WHERE job.state = 1 AND job.owner = node.node),
    CAST(details AS BLOB)
FROM node
ORDER BY node
