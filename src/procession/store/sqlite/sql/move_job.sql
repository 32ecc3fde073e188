-- A job of a migrated instance goes with it.
UPDATE procession_job SET element = :element, definition = :definition WHERE key = :key
