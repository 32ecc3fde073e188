DELETE FROM procession_batch_error WHERE batch IN (:keys) ORDER BY batch, item LIMIT :limit
