-- Jobs are final: their unique keys are free, unless they are held for a time.
DELETE FROM procession_unique_key WHERE job IN (SELECT value FROM json_each(?1)) AND (until IS NULL OR until <= ?2)
