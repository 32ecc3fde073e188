DELETE FROM procession_start_subscription WHERE process_id = :process_id AND tenant = :tenant
