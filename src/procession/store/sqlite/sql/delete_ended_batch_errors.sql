DELETE FROM procession_batch_error
WHERE (batch, item) IN (
    SELECT error.batch, error.item
    FROM procession_batch AS batch
    JOIN procession_batch_error AS error ON error.batch = batch.key
    WHERE batch.state IN (1, 2) AND batch.ended_at <= :ended_before AND NOT EXISTS (
        SELECT 1 FROM procession_batch AS again WHERE again.retry_of = batch.key AND again.state IN (0, 3)
    )
    LIMIT :limit
)
