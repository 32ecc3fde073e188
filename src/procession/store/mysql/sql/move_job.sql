-- Of a migrated instance: it goes with it.
UPDATE procession_job SET element = :element, definition = :definition WHERE `key` = :key
