DELETE FROM procession_message_id WHERE identity IN (/* rows */ ? /* rows */)
