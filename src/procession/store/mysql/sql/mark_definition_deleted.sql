UPDATE procession_definition SET deleted_at = @now WHERE `key` = :key
