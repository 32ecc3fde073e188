DELETE FROM procession_job WHERE definition = :key AND instance = 0 AND kind = 3
