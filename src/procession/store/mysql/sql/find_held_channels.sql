SELECT tenant, process_id, correlation_key, instance
FROM procession_start_channel
WHERE process_id IN (:process_ids) AND correlation_key IN (:correlation_keys)
