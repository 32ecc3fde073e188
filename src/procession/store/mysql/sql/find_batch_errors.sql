SELECT item FROM procession_batch_error WHERE batch = :batch AND item IN (:items)
