SELECT identity, message FROM procession_message_id WHERE identity IN (/* rows */ ? /* rows */) AND expires_at > @now
