DELETE FROM procession_job
WHERE state = 6
    AND key IN (SELECT value FROM procession_batch AS batch, json_each(batch.jobs) WHERE batch.key = :batch)
