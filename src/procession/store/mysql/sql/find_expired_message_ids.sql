SELECT identity FROM procession_message_id WHERE expires_at <= @now ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED
