-- Of a migrated instance: it goes with it.
UPDATE procession_incident SET element = :element, definition = :definition, process_id = :process_id WHERE `key` = :key
