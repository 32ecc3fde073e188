DELETE FROM procession_batch
WHERE key IN (
    SELECT batch.key
    FROM procession_batch AS batch
    WHERE batch.state IN (1, 2) AND batch.ended_at <= :ended_before
        AND NOT EXISTS (SELECT 1 FROM procession_batch AS again WHERE again.retry_of = batch.key AND again.state IN (0, 3))
        AND NOT EXISTS (SELECT 1 FROM procession_batch_error AS error WHERE error.batch = batch.key)
    LIMIT :limit
)
