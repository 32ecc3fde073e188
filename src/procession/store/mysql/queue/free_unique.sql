-- Jobs are final: their unique keys are free, unless they are held for a time.
DELETE FROM procession_unique_key WHERE job IN (:a) AND (`until` IS NULL OR `until` <= :b)
