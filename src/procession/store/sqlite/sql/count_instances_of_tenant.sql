SELECT status, count(*) FROM procession_instance
WHERE tenant = :tenant AND (:process_id = '' OR process_id = :process_id)
GROUP BY status
