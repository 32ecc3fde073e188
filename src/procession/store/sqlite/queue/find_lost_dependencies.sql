-- Dependencies of jobs that are not in the queue.
SELECT DISTINCT d.child
FROM procession_dependency AS d
WHERE NOT EXISTS (SELECT 1 FROM procession_job AS j WHERE j.key = d.child)
ORDER BY d.child
LIMIT json_extract(?1, '$[0]')
