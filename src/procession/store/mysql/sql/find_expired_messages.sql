SELECT `key` FROM procession_message WHERE expires_at <= @now ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED
