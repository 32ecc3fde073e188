UPDATE procession_migration SET statements = :statements WHERE version = :version
