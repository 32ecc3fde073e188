SELECT status, COUNT(*)
FROM procession_instance
WHERE (:process_id = '' OR process_id = :process_id) AND (:tenant = '' OR tenant = :tenant)
GROUP BY status
