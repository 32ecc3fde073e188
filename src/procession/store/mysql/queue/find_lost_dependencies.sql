-- Dependencies of jobs that are not in the queue.
SELECT DISTINCT link.child
FROM procession_dependency AS link
WHERE NOT EXISTS (SELECT 1 FROM procession_job AS job WHERE job.`key` = link.child)
ORDER BY link.child
LIMIT :a
