-- Others come after these jobs: their ends go the long way (jobs.options.Trait.PARENT).
UPDATE procession_job SET traits = COALESCE(traits, 0) | 8 WHERE `key` IN (:a)
