-- Ended long ago, and no other one does its failed items again.
SELECT batch.`key`
FROM procession_batch AS batch
WHERE batch.state IN (1, 2) AND batch.ended_at <= :ended_before
    AND NOT EXISTS (SELECT 1 FROM procession_batch AS again WHERE again.retry_of = batch.`key` AND again.state IN (0, 3))
ORDER BY batch.`key`
LIMIT :limit
FOR UPDATE
