-- Of a migrated instance: it goes with it.
UPDATE procession_user_task SET element = :element, definition = :definition, process_id = :process_id, name = :name WHERE `key` = :key
