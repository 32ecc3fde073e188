-- Batches of jobs that finished before a time and of which nothing is there any more: no member, nobody who comes after
-- them, no batch around them.
SELECT batch.`key`
FROM procession_job_batch AS batch
WHERE batch.state = 2 AND batch.finished_at <= :b
    AND NOT EXISTS (SELECT 1 FROM procession_job AS job WHERE job.batch = batch.`key`)
    AND NOT EXISTS (SELECT 1 FROM procession_job_archive AS archive WHERE archive.batch = batch.`key`)
    AND NOT EXISTS (SELECT 1 FROM procession_dependency AS link WHERE link.parent = batch.`key`)
    AND NOT EXISTS (SELECT 1 FROM procession_job_batch AS around WHERE around.`key` = batch.parent)
ORDER BY batch.finished_at, batch.`key`
LIMIT :a
