SELECT statements FROM procession_migration WHERE version = :version
