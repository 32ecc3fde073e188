SELECT status, count(*) FROM instance WHERE process_id = :process_id GROUP BY status
