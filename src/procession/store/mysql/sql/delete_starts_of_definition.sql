DELETE FROM procession_start_subscription WHERE definition = :key
