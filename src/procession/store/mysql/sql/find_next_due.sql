SELECT due_at FROM procession_job FORCE INDEX (due) WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1
