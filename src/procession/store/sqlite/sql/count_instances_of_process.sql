SELECT status, count(*) FROM procession_instance WHERE process_id = :process_id GROUP BY status
