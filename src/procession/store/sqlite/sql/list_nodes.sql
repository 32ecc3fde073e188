SELECT
    node, name, started_at, beat_at,
    (SELECT count(*) FROM procession_job AS job WHERE job.state = 1 AND job.owner = node.node),
    CAST(details AS BLOB)
FROM procession_node AS node
ORDER BY node
