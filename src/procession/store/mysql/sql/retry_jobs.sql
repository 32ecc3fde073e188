UPDATE procession_job SET state = 0, retries = :retries, crashes = 0, run_at = @now WHERE `key` IN (:keys) AND state = 5
