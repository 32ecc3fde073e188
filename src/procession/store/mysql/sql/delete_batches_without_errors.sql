DELETE FROM procession_batch
WHERE `key` IN (:keys)
    AND NOT EXISTS (SELECT 1 FROM procession_batch_error AS error WHERE error.batch = procession_batch.`key`)
