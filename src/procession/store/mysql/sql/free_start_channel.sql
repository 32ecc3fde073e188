DELETE FROM procession_start_channel
WHERE process_id = :process_id AND correlation_key = :correlation_key AND tenant = :tenant AND instance = :instance
