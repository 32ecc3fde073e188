-- Sealed batches of jobs whose members are all final.
SELECT `key`
FROM procession_job_batch
WHERE state = 1 AND total = succeeded + failed + deleted
ORDER BY `key`
LIMIT :a
