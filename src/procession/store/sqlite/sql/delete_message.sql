DELETE FROM procession_message WHERE key = :key
