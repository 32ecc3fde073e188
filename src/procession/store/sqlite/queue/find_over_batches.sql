-- Batches of jobs that finished before a time and of which nothing is there any more: no member, nobody who comes after
-- them, no batch around them.
SELECT b.key
FROM procession_job_batch AS b
WHERE b.state = 2 AND b.finished_at <= ?2
    AND NOT EXISTS (SELECT 1 FROM procession_job AS j WHERE j.batch = b.key)
    AND NOT EXISTS (SELECT 1 FROM procession_job_archive AS a WHERE a.batch = b.key)
    AND NOT EXISTS (SELECT 1 FROM procession_dependency AS d WHERE d.parent = b.key)
    AND NOT EXISTS (SELECT 1 FROM procession_job_batch AS around WHERE around.key = b.parent)
ORDER BY b.finished_at, b.key
LIMIT json_extract(?1, '$[0]')
