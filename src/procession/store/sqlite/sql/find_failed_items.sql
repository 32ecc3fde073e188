SELECT key, instance, error
FROM procession_job
WHERE state = 5 AND key IN (
    SELECT item.value FROM procession_batch AS batch, json_each(batch.jobs) AS item WHERE batch.key = :batch
)
