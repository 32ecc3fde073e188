SELECT
    node, name, started_at, beat_at,
    (SELECT COUNT(*) FROM procession_job AS job FORCE INDEX (ready) WHERE job.state = 1 AND job.owner = known.node), details
FROM procession_node AS known
ORDER BY node
