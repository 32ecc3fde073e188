SELECT status, count(*) FROM procession_instance GROUP BY status
