-- As find_held_channels, of the processes with a start event of one of these names.
SELECT held.tenant, held.process_id, held.correlation_key, held.instance
FROM procession_start_channel AS held
WHERE held.correlation_key IN (:correlation_keys)
    AND held.process_id IN (SELECT start.process_id FROM procession_start_subscription AS start WHERE start.name IN (:names))
