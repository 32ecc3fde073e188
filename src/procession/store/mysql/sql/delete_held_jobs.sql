-- Jobs that are held under these leases. The keys alone reach the rows, the pairs say which of them.
DELETE FROM procession_job
WHERE `key` IN (:keys) AND (state = 1 OR (state = 2 AND owner = -1)) AND traits IS NULL
    AND (`key`, lease) IN (/* rows */ (?, ?) /* rows */)
